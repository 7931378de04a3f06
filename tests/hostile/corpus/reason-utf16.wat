;; A reason in UTF-16 that is half as long again in the host: what counts is what the host gets.
;; expect: judgement_too_large
;; says: a reason has 4002 bytes
;; encoding: utf16
;; with: memory realloc describe-utf16 answer
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (memory.fill (i32.const 8192) (i32.const 0x20) (i32.const 2668))
    (call $answer (i32.const 1) (i32.const 8192) (i32.const 1334)))
)
