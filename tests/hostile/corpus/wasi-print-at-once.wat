;; Prints forty megabytes at once.
;; expect: result_too_large
;; wasi: deny-all
;; with: realloc describe
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $write (call $stdout) (i32.const 65536) (i32.const 41943040) (i32.const 528))
    unreachable)
)
