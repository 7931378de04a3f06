;; Objects that the host collects.
;; expect: invalid_component
;; says: gc
;; with: policy
(component
  (core module (type (struct (field i32))))
)
