;; Functions that are left and entered again.
;; expect: invalid_component
;; says: stack switching
;; with: policy
(component
  (core module (type $f (func)) (type $c (cont $f)))
)
