;; Asks for the environment: there is none.
;; expect: judged pass
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:cli/environment@0.2.6" "get-environment" (func $environment (param i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $environment (i32.const 528))
    (i32.store8 (i32.const 128) (i32.ne (i32.load (i32.const 532)) (i32.const 0)))
    (i32.const 128))
)
