;; Gives the host memory at a place where nothing may begin.
;; expect: trapped
;; says: not aligned
;; with: memory describe evaluate
(module
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65537))
)
