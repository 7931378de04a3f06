;; Draws two random numbers. They differ from each other, and are the same in every call.
;; expect: judged pass
;; wasi: deny-all
;; with: memory realloc describe answer
(module
  (import "wasi:random/random@0.2.6" "get-random-u64" (func $number (result i64)))
  (func $letters (param $at i32) (param $value i64)
    (loop $next
      (i32.store8 (local.get $at)
        (i32.add (i32.const 97) (i32.wrap_i64 (i64.and (local.get $value) (i64.const 15)))))
      (local.set $value (i64.shr_u (local.get $value) (i64.const 4)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.and (local.get $at) (i32.const 15)))))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (local $one i64) (local $other i64)
    (local.set $one (call $number))
    (local.set $other (call $number))
    (call $letters (i32.const 512) (local.get $one))
    (call $letters (i32.const 528) (local.get $other))
    (call $answer (i64.eq (local.get $one) (local.get $other)) (i32.const 512) (i32.const 32)))
)
