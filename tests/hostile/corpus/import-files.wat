;; Wants the file system.
;; expect: import_denied
;; says: wasi:filesystem/preopens@0.2.6
;; with: policy
(component
  (import "wasi:filesystem/preopens@0.2.6" (instance
    (export "descriptor" (type $descriptor (sub resource)))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))
)
