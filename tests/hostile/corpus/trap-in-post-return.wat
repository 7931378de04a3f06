;; Gives its judgement, and gives up when the host lets go of it.
;; expect: trapped
;; with: memory realloc describe evaluate
(module
  (func (export "cabi_post_ralph:gate/policy@0.1.0#evaluate") (param i32) unreachable)
)
