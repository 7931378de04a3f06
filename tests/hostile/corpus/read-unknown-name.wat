;; Reads what it was not told about: a path out of the work.
;; expect: judged pass
;; reason: unknown name
;; with: memory realloc describe answer
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (data (i32.const 512) "../../../etc/passwd")
  (data (i32.const 600) "unknown name")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $read (i32.const 512) (i32.const 19) (i64.const 0) (i32.const 100) (i32.const 544))
    (if (i32.eqz (i32.load8_u (i32.const 544))) (then unreachable))
    (if (i32.ne (i32.load8_u (i32.const 548)) (i32.const 0)) (then unreachable))
    (call $answer (i32.const 0) (i32.const 600) (i32.const 12)))
)
