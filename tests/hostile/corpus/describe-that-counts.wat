;; Tries to be called something else each time, and to judge something else each time: it counts its calls, in a global and
;; in its memory. Each call has an instance of its own, so it always counts to one.
;; expect: judged pass
;; reason: call 1
;; with: memory realloc answer
(module
  (global $calls (mut i32) (i32.const 0))
  (data (i32.const 512) "call 0")
  (func $count
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store8 (i32.const 517) (i32.add (i32.load8_u (i32.const 517)) (global.get $calls))))
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (call $count)
    (i32.store (i32.const 64) (i32.const 512))
    (i32.store (i32.const 68) (i32.const 6))
    (i32.const 64))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $count)
    (call $answer (i32.const 0) (i32.const 512) (i32.const 6)))
)
