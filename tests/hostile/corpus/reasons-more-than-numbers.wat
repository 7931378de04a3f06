;; A list of four thousand million reasons.
;; expect: trapped
;; with: memory realloc describe
(module
  (data (i32.const 256) "\01\00\00\00\00\10\00\00\ff\ff\ff\ff")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.const 256))
)
