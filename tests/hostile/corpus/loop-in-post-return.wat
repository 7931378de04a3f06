;; Gives its judgement, and loops when the host lets go of it.
;; expect: out_of_fuel
;; with: memory realloc describe evaluate
(module
  (func (export "cabi_post_ralph:gate/policy@0.1.0#evaluate") (param i32)
    (loop $again (br $again)))
)
