;; Nine modules that are harmless one by one: seven and a half megabytes each.
;; expect: out_of_memory
;; with: policy
(component
  (core module $m (memory 120))
  (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
  (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
  (core instance (instantiate $m)) (core instance (instantiate $m)) (core instance (instantiate $m))
)
