;; One reason too many.
;; expect: judgement_too_large
;; says: 101 reasons
;; with: memory realloc describe
(module
  (data (i32.const 256) "\01\00\00\00\00\10\00\00\65\00\00\00")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.const 256))
)
