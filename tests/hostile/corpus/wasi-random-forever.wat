;; Asks for randomness without end, which costs the host more than it costs the policy.
;; expect: timed_out or out_of_fuel
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:random/random@0.2.6" "get-random-bytes" (func $bytes (param i64 i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (global.set $next (i32.const 65536))
      (call $bytes (i64.const 65536) (i32.const 528))
      (br $again))
    unreachable)
)
