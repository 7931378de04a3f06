  ;; An honest description, at 64: five times place and length.
  (data (i32.const 16) "hostile")
  (data (i32.const 24) "1.0.0")
  (data (i32.const 32) "Harms its host.")
  (data (i32.const 64)
    "\10\00\00\00\07\00\00\00" "\18\00\00\00\05\00\00\00" "\20\00\00\00\0f\00\00\00"
    "\00\00\00\00\00\00\00\00" "\00\00\00\00\00\00\00\00")
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32) (i32.const 64))
