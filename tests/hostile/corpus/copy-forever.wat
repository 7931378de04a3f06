;; Copies all of its memory over itself again and again, forwards and backwards.
;; expect: timed_out
;; fuel: 1000000000000
;; with: realloc describe
(module
  (memory (export "memory") 1000)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (memory.copy (i32.const 0) (i32.const 1) (i32.const 65535999))
      (memory.copy (i32.const 1) (i32.const 0) (i32.const 65535999))
      (br $again))
    unreachable)
)
