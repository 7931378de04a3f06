;; Calls the host while the host waits for memory.
;; expect: trapped
;; says: cannot leave component instance
;; with: memory describe evaluate
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (call $read (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 528))
    (i32.const 65536))
)
