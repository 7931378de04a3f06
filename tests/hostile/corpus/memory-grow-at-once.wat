;; Wants four gigabytes at once.
;; expect: out_of_memory
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (drop (memory.grow (i32.const 65533)))
    unreachable)
)
