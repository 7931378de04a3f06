;; Prints a gigabyte. The log keeps the beginning and counts the rest.
;; expect: judged pass or timed_out
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (import "wasi:io/streams@0.2.6" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (local $stream i32) (local $times i32)
    (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const 65536))
    (local.set $stream (call $stdout))
    (local.set $times (i32.const 16384))
    (loop $again
      (call $write (local.get $stream) (i32.const 65536) (i32.const 65536) (i32.const 528))
      (local.set $times (i32.sub (local.get $times) (i32.const 1)))
      (br_if $again (local.get $times)))
    (i32.const 128))
)
