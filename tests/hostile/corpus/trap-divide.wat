;; Divides by zero.
;; expect: trapped
;; says: divide by zero
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.div_u (i32.const 1) (local.get 6)) drop
    (i32.div_u (i32.const 1) (i32.const 0)))
)
