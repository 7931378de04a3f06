;; Calls itself without end.
;; expect: stack_overflow
;; with: memory realloc describe
(module
  (func $deeper (param i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $deeper (i32.const 0)))
)
