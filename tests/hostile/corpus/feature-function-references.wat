;; References to functions of a type.
;; expect: invalid_component
;; says: function references
;; with: policy
(component
  (core module (type $t (func)) (func (param (ref $t))))
)
