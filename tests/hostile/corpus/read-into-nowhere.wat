;; Wants what it reads where it has no memory.
;; expect: trapped
;; says: out of bounds
;; with: memory realloc describe
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (data (i32.const 512) "big")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $read (i32.const 512) (i32.const 3) (i64.const 0) (i32.const 1) (i32.const -4))
    unreachable)
)
