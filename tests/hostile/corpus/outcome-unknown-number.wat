;; An outcome that is none of the three.
;; expect: trapped
;; says: discriminant
;; with: memory realloc describe answer
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (i32.const 7) (i32.const 512) (i32.const 1)))
)
