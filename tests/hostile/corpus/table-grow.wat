;; Grows a table, whose elements are the host's memory.
;; expect: out_of_memory
;; with: memory realloc describe
(module
  (table $table 1 funcref)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (drop (table.grow $table (ref.null func) (i32.const 10000)))
      (br $again))
    unreachable)
)
