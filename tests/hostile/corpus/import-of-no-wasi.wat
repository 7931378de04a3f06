;; Wants something that WASI does not have, from a host that denies all of WASI. It never calls it, so nothing happens.
;; expect: judged pass
;; wasi: deny-all
;; with: policy
(component
  (import "wasi:evil/anything" (instance (export "run" (func (param "line" string)))))
)
