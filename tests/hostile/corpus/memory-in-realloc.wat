;; Takes all the memory there is when the host wants to hand over the evidence.
;; expect: out_of_memory
;; with: memory describe evaluate
(module
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (loop $again
      (drop (memory.grow (i32.const 16)))
      (br $again))
    unreachable)
)
