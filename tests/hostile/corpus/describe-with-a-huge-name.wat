;; Has a name of half a megabyte.
;; expect: judgement_too_large
;; with: realloc evaluate
(module
  (memory (export "memory") 20)
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const 524288))
    (i32.store (i32.const 64) (i32.const 65536))
    (i32.store (i32.const 68) (i32.const 524288))
    (i32.const 64))
)
