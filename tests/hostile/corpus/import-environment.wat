;; Wants the environment.
;; expect: import_denied
;; says: deny-all
;; with: policy
(component
  (import "wasi:cli/environment@0.2.6" (instance
    (export "get-environment" (func (result (list (tuple string string)))))))
)
