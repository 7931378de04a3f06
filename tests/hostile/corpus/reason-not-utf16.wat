;; A reason in UTF-16 that is half a character.
;; expect: trapped
;; says: surrogate
;; encoding: utf16
;; with: memory realloc describe-utf16 answer
(module
  (data (i32.const 512) "\00\d8\61\00")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (i32.const 1) (i32.const 512) (i32.const 2)))
)
