;; A policy that passes, with one reason.
(module
  (memory (export "memory") 1)
  (global $next (mut i32) (i32.const 4096))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at
      (i32.and
        (i32.add (global.get $next) (i32.sub (local.get 2) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get 2))))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32) (i32.const 16))
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (i32.const 64))
  ;; The description at 16: name, version, summary; no schema, no wants.
  (data (i32.const 16) "\00\01\00\00\0a\00\00\00\10\01\00\00\05\00\00\00\20\01\00\00\17\00\00\00")
  (data (i32.const 256) "says-hello")
  (data (i32.const 272) "1.0.0")
  (data (i32.const 288) "Says what it was built.")
  ;; The judgement at 64: pass, one reason.
  (data (i32.const 64) "\00\00\00\00\80\00\00\00\01\00\00\00")
  (data (i32.const 128) "\00\02\00\00\12\00\00\00")
  (data (i32.const 512) "everything is fine")
)
