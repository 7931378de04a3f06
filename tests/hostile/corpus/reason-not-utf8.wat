;; A reason that is no text.
;; expect: trapped
;; says: utf-8
;; with: memory realloc describe answer
(module
  (data (i32.const 512) "\ff\fe\c0\80\ed\a0\80")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (i32.const 1) (i32.const 512) (i32.const 7)))
)
