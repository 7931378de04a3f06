;; Reads behind the end of its memory.
;; expect: trapped
;; says: out of bounds memory access
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.load offset=4294967295 (i32.const -1)))
)
