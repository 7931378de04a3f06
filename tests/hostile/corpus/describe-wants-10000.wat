;; Wants ten thousand artifacts without names.
;; expect: judgement_too_large
;; says: 10000 wants
;; with: realloc evaluate
(module
  (memory (export "memory") 4)
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (i32.store (i32.const 96) (i32.const 131072))
    (i32.store (i32.const 100) (i32.const 10000))
    (i32.const 64))
)
