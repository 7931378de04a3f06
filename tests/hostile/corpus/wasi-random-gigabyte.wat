;; Asks for a gigabyte of randomness.
;; expect: trapped
;; says: random bytes
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:random/random@0.2.6" "get-random-bytes" (func $bytes (param i64 i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $bytes (i64.const 1073741824) (i32.const 528))
    unreachable)
)
