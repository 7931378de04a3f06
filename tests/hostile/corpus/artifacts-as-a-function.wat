;; Wants the artifacts, as something else than they are.
;; expect: wrong_world
;; with: policy
(component
  (import "ralph:gate/artifacts@0.1.0" (func))
)
