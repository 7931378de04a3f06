;; Seven million reasons without a letter: eight bytes each in its memory, three times as many in the host's.
;; expect: result_too_large
;; with: realloc describe
(module
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.store8 (i32.const 256) (i32.const 1))
    (i32.store (i32.const 260) (i32.const 65536))
    (i32.store (i32.const 264) (i32.const 7000000))
    (i32.const 256))
)
