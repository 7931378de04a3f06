;; Asks for the network.
;; expect: trapped
;; says: unknown import
;; wasi: deny-all
;; with: memory realloc describe
(module
  (import "wasi:sockets/instance-network@0.2.6" "instance-network" (func $network (result i32)))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (drop (call $network))
    unreachable)
)
