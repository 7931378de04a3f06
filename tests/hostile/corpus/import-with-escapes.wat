;; Wants something whose name tries to do something to a terminal.
;; expect: import_denied
;; with: policy
(component
  (import "url=<https://example.org/\1b[2J\1b]0;owned\07>" (func))
)
