;; Wants code of the host's, under a name of WASI.
;; expect: wrong_world
;; wasi: deny-all
;; with: policy
(component
  (import "wasi:evil/code@1.0.0" (instance (export "code" (core module))))
)
