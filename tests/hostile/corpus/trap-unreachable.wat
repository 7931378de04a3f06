;; Gives up.
;; expect: trapped
;; says: unreachable
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    unreachable)
)
