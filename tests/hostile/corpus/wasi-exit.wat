;; Ends the process, as a program would.
;; expect: trapped
;; says: it called exit
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:cli/exit@0.2.6" "exit" (func $exit (param i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (call $exit (i32.const 0))
    unreachable)
)
