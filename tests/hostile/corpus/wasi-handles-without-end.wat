;; Asks for standard output again and again, and lets go of none of it.
;; expect: trapped
;; says: handle limit
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:cli/stdout@0.2.6" "get-stdout" (func $stdout (result i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (drop (call $stdout))
      (br $again))
    unreachable)
)
