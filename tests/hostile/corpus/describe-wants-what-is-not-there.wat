;; Wants an artifact that its check does not name. The name tries to do something to a terminal.
;; expect: artifact_missing
;; with: memory realloc evaluate
(module
  (data (i32.const 512) "\1b[2Jpasswords")
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (i32.store (i32.const 96) (i32.const 544))
    (i32.store (i32.const 100) (i32.const 1))
    (i32.store (i32.const 544) (i32.const 512))
    (i32.store (i32.const 548) (i32.const 13))
    (i32.const 64))
)
