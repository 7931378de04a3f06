;; Does not say what it is.
;; expect: trapped
;; with: memory realloc evaluate
(module
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32) unreachable)
)
