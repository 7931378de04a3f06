;; Memory that threads share.
;; expect: invalid_component
;; says: threads
;; with: policy
(component
  (core module (memory 1 1 shared))
)
