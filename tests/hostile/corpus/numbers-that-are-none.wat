;; Makes numbers that are none (NaN) in several ways, whose bits differ between processors, and says these bits.
;; expect: judged fail
;; with: memory realloc describe answer
(module
  (func $letter (param $at i32) (param $half i32)
    (i32.store8 (local.get $at)
      (i32.add (local.get $half)
        (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $half) (i32.const 10))))))
  (func $bits (param $at i32) (param $value i64)
    (loop $next
      (call $letter (local.get $at) (i32.wrap_i64 (i64.shr_u (local.get $value) (i64.const 60))))
      (local.set $value (i64.shl (local.get $value) (i64.const 4)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.and (local.get $at) (i32.const 15)))))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (local $zero f64)
    (call $bits (i32.const 512) (i64.reinterpret_f64 (f64.div (local.get $zero) (local.get $zero))))
    (call $bits (i32.const 528) (i64.reinterpret_f64 (f64.sqrt (f64.const -1))))
    (call $bits (i32.const 544) (i64.reinterpret_f64
      (f64.add (f64.const nan:0x123) (f64.neg (f64.const nan:0x456)))))
    (call $answer (i32.const 1) (i32.const 512) (i32.const 48)))
)
