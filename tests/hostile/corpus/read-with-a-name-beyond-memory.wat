;; Asks for an artifact whose name is not in its memory.
;; expect: trapped
;; says: out of bounds
;; with: memory realloc describe
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $read (i32.const -1) (i32.const 100) (i64.const 0) (i32.const 1) (i32.const 528))
    unreachable)
)
