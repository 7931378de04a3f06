;; Makes a folder in one that it was never given.
;; expect: trapped
;; says: unknown handle
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:filesystem/types@0.2.6" "[method]descriptor.create-directory-at"
    (func $make (param i32 i32 i32 i32)))
  (data (i32.const 512) "owned")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $make (i32.const 3) (i32.const 512) (i32.const 5) (i32.const 528))
    unreachable)
)
