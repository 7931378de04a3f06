;; One reason that is a little too long.
;; expect: judgement_too_large
;; says: a reason has 4001 bytes
;; with: memory realloc describe answer
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (memory.fill (i32.const 8192) (i32.const 0x61) (i32.const 4001))
    (call $answer (i32.const 1) (i32.const 8192) (i32.const 4001)))
)
