;; Offers the policy of another version.
;; expect: wrong_world
(component
  (component $policy
    (core module $m (func (export "f") (result i32) (i32.const 0)))
    (core instance $i (instantiate $m))
    (func (export "describe") (result u32) (canon lift (core func $i "f")))
    (func (export "evaluate") (result u32) (canon lift (core func $i "f"))))
  (instance $policy (instantiate $policy))
  (export "ralph:gate/policy@0.2.0" (instance $policy))
)
