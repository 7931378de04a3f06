;; Asks for an artifact whose name has forty megabytes.
;; expect: result_too_large
;; with: realloc describe
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $read (i32.const 65536) (i32.const 41943040) (i64.const 0) (i32.const 1) (i32.const 528))
    unreachable)
)
