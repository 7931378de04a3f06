;; Wants code of the host's.
;; expect: import_denied
;; with: policy
(component
  (import "code" (core module))
)
