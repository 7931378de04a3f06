;; A judgement that is not in its memory.
;; expect: trapped
;; says: out of bounds
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.const -4))
)
