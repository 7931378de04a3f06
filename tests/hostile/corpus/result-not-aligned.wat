;; A judgement at a place where none may begin.
;; expect: trapped
;; says: aligned
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.const 129))
)
