;; Fills all of its memory again and again. What one instruction does to many bytes costs fuel for each of them.
;; expect: out_of_fuel
;; with: realloc describe
(module
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (memory.fill (i32.const 0) (i32.const 7) (i32.const 65536000))
      (br $again))
    unreachable)
)
