;; Makes resources of its own and lets go of none. Each has an entry in a table of the host's.
;; expect: trapped
;; says: handle limit
;; with: policy
(component
  (type $thing (resource (rep i32)))
  (core func $new (canon resource.new $thing))
  (core module $maker
    (import "host" "new" (func $new (param i32) (result i32)))
    (func $begin (loop $again (drop (call $new (i32.const 1))) (br $again)))
    (start $begin))
  (core instance (instantiate $maker (with "host" (instance (export "new" (func $new))))))
)
