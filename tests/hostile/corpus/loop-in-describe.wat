;; Never says what it is.
;; expect: out_of_fuel
;; with: memory realloc evaluate
(module
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (loop $again (br $again))
    unreachable)
)
