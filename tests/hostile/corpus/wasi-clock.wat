;; Looks at both clocks, works a while and looks again: they stand still.
;; expect: judged pass
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $ticks (result i64)))
  (import "wasi:clocks/wall-clock@0.2.6" "now" (func $now (param i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (local $ticks i64) (local $work i32)
    (local.set $ticks (call $ticks))
    (call $now (i32.const 528))
    (loop $again
      (local.set $work (i32.add (local.get $work) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $work) (i32.const 1000000))))
    (call $now (i32.const 544))
    (i32.store8 (i32.const 128)
      (i32.or
        (i64.ne (local.get $ticks) (call $ticks))
        (i32.or
          (i64.ne (i64.load (i32.const 528)) (i64.load (i32.const 544)))
          (i32.ne (i32.load (i32.const 536)) (i32.load (i32.const 552))))))
    (i32.const 128))
)
