;; A reason that begins where its memory ends.
;; expect: trapped
;; says: out of bounds
;; with: memory realloc describe answer
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (i32.const 1) (i32.const 131071) (i32.const 2)))
)
