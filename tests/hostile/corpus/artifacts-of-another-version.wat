;; Wants the artifacts of an interface that is not there yet.
;; expect: import_denied
;; with: policy
(component
  (import "ralph:gate/artifacts@0.2.0" (instance
    (export "read" (func (param "name" string) (param "offset" u64) (param "length" u32) (result (list u8))))))
)
