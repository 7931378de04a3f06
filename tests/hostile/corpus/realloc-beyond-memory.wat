;; Gives the host memory that is not there.
;; expect: trapped
;; says: beyond end of memory
;; with: memory describe evaluate
(module
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const -16))
)
