  ;; An honest judgement, at 128, where all is zero: it passes, without reasons.
  (func (export "ralph:gate/policy@0.1.0#evaluate")
    (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 128))
