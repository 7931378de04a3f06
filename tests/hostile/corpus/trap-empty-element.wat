;; Calls an element of a table that is none.
;; expect: trapped
;; says: uninitialized element
;; with: memory realloc describe
(module
  (type $none (func (result i32)))
  (table $table 1 funcref)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call_indirect $table (type $none) (i32.const 0)))
)
