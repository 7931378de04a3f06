;; Exceptions.
;; expect: invalid_component
;; says: exceptions
;; with: policy
(component
  (core module (tag (param i32)))
)
