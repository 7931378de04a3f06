;; Offers instances with the names of the functions.
;; expect: wrong_world
(component
  (component $policy
    (component $none)
    (instance $i (instantiate $none))
    (export "describe" (instance $i))
    (export "evaluate" (instance $i)))
  (instance $policy (instantiate $policy))
  (export "ralph:gate/policy@0.1.0" (instance $policy))
)
