;; Prints what does something to a terminal.
;; expect: judged fail
;; wasi: deny-all
;; with: memory realloc describe answer
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))
  (data (i32.const 600) "\1b[2J\1b]0;owned\07\ff\fe all checks passed\0d\0a")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $write (call $stdout) (i32.const 600) (i32.const 36) (i32.const 528))
    (call $answer (i32.const 1) (i32.const 606) (i32.const 0)))
)
