;; Has a name of forty megabytes.
;; expect: result_too_large
;; with: realloc evaluate
(module
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (i32.store (i32.const 64) (i32.const 65536))
    (i32.store (i32.const 68) (i32.const 41943040))
    (i32.const 64))
)
