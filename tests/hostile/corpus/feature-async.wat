;; A function that may go on after it has answered.
;; expect: invalid_component
;; says: async
;; with: policy
(component
  (core module $m (func (export "f")))
  (core instance $i (instantiate $m))
  (func (export "f") async (canon lift (core func $i "f") async))
)
