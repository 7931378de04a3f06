;; Wants seven million artifacts.
;; expect: result_too_large
;; with: realloc evaluate
(module
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (i32.store (i32.const 96) (i32.const 131072))
    (i32.store (i32.const 100) (i32.const 7000000))
    (i32.const 64))
)
