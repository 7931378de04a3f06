;; Gives the host the same memory again and again: the evidence is written over itself, which harms nobody else.
;; expect: judged pass
;; with: memory describe evaluate
(module
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 65536))
)
