;; One module with nine memories, which are too much together.
;; expect: out_of_memory
;; with: policy
(component
  (core module $m
    (memory 120) (memory 120) (memory 120) (memory 120) (memory 120) (memory 120) (memory 120) (memory 120) (memory 120))
  (core instance (instantiate $m))
)
