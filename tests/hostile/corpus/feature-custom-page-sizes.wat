;; Pages of one byte.
;; expect: invalid_component
;; says: custom page sizes
;; with: policy
(component
  (core module (memory 1 (pagesize 1)))
)
