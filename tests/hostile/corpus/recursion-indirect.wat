;; Calls itself through a table, so that no compiler can see it.
;; expect: stack_overflow
;; with: memory realloc describe
(module
  (type $deeper (func (param i32) (result i32)))
  (table $table 1 1 funcref)
  (elem (i32.const 0) $deeper)
  (func $deeper (type $deeper)
    (i32.add
      (call_indirect $table (type $deeper) (i32.add (local.get 0) (i32.const 1)) (i32.const 0))
      (i32.const 1)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $deeper (i32.const 0)))
)
