;; Calls itself without end while the host waits for memory.
;; expect: stack_overflow
;; with: memory describe evaluate
(module
  (func $deeper (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (i32.add
      (call $deeper (local.get 0) (local.get 1) (local.get 2) (local.get 3))
      (i32.const 1)))
)
