;; Sleeps for an hour, a hundred times. Nobody waits.
;; expect: judged pass
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:clocks/monotonic-clock@0.2.6" "subscribe-duration" (func $wake (param i64) (result i32)))
  (import "wasi:io/poll@0.2.6" "[method]pollable.block" (func $block (param i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (local $times i32)
    (local.set $times (i32.const 100))
    (loop $again
      (call $block (call $wake (i64.const 3600000000000)))
      (local.set $times (i32.sub (local.get $times) (i32.const 1)))
      (br_if $again (local.get $times)))
    (i32.const 128))
)
