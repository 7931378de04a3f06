  ;; A judgement with one reason, at 144: the outcome, and a list at 160.
  (func $answer (param $outcome i32) (param $reason i32) (param $length i32) (result i32)
    (i32.store8 (i32.const 144) (local.get $outcome))
    (i32.store (i32.const 148) (i32.const 160))
    (i32.store (i32.const 152) (i32.const 1))
    (i32.store (i32.const 160) (local.get $reason))
    (i32.store (i32.const 164) (local.get $length))
    (i32.const 144))
