;; Offers types with the names of the functions.
;; expect: wrong_world
(component
  (component $policy
    (type $t (enum "a"))
    (export "describe" (type $t))
    (export "evaluate" (type $t)))
  (instance $policy (instantiate $policy))
  (export "ralph:gate/policy@0.1.0" (instance $policy))
)
