;; Reads from the largest place there is, as much as there is: nothing, and no error.
;; expect: judged pass
;; reason: nothing
;; with: memory realloc describe answer
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (data (i32.const 512) "big")
  (data (i32.const 600) "nothing")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $read (i32.const 512) (i32.const 3) (i64.const -1) (i32.const -1) (i32.const 528))
    (if (i32.load8_u (i32.const 528)) (then unreachable))
    (if (i32.load (i32.const 536)) (then unreachable))
    (call $answer (i32.const 0) (i32.const 600) (i32.const 7)))
)
