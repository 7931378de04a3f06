;; A list that reaches behind the end of its memory.
;; expect: trapped
;; says: out of bounds
;; with: memory realloc describe
(module
  (data (i32.const 256) "\01\00\00\00\f8\ff\01\00\02\00\00\00")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.const 256))
)
