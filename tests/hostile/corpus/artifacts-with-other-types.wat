;; Wants to read artifacts by number.
;; expect: wrong_world
;; with: policy
(component
  (import "ralph:gate/artifacts@0.1.0" (instance
    (export "read" (func (param "number" u32) (result (list u8))))))
)
