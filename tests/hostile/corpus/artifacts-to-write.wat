;; Wants to write artifacts.
;; expect: wrong_world
;; with: policy
(component
  (import "ralph:gate/artifacts@0.1.0" (instance
    (export "write" (func (param "name" string) (param "bytes" (list u8))))))
)
