;; Two functions that call each other at their ends: no loop and no stack.
;; expect: out_of_fuel
;; with: memory realloc describe
(module
  (func $one (result i32) (return_call $other))
  (func $other (result i32) (return_call $one))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $one))
)
