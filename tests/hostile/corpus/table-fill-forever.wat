;; Fills a large table again and again.
;; expect: timed_out
;; fuel: 1000000000000
;; with: memory realloc describe
(module
  (table $table 4000000 funcref)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (table.fill $table (i32.const 0) (ref.null func) (i32.const 4000000))
      (br $again))
    unreachable)
)
