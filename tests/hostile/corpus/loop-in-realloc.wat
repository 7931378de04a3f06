;; Never gives the host the memory for what it is to judge.
;; expect: out_of_fuel
;; with: memory describe evaluate
(module
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (loop $again (br $again))
    unreachable)
)
