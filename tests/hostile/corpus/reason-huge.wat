;; One reason of fifty megabytes.
;; expect: result_too_large
;; with: realloc describe answer
(module
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $answer (i32.const 1) (i32.const 65536) (i32.const 52428800)))
)
