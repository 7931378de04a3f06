;; Asks its host for nothing, for ever. Fuel sees the loop and not what the host does in it: with as much of it as others have,
;; the clock would come first on a slow machine.
;; fuel: 1000000
;; expect: out_of_fuel
;; with: memory realloc describe
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (data (i32.const 512) "big")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (call $read (i32.const 512) (i32.const 3) (i64.const 0) (i32.const 0) (i32.const 528))
      (br $again))
    unreachable)
)
