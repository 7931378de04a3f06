;; Memory with addresses of 64 bits.
;; expect: invalid_component
;; says: memory64
;; with: policy
(component
  (core module (memory i64 1))
)
