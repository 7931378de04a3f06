;; Wants something that no host gives.
;; expect: import_denied
;; says: evil:host/shell@1.0.0
;; with: policy
(component
  (import "evil:host/shell@1.0.0" (instance (export "run" (func (param "line" string)))))
)
