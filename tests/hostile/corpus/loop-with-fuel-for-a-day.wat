;; Never gives a judgement, and has fuel for a day: the clock must end it.
;; expect: timed_out
;; fuel: 1000000000000
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again (br $again))
    unreachable)
)
