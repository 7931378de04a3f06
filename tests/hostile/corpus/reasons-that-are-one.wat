;; Five thousand reasons that are the same 400 kilobytes: two gigabytes for who copies them.
;; expect: result_too_large
;; with: realloc describe
(module
  (memory (export "memory") 20)
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (local $at i32)
    (memory.fill (i32.const 131072) (i32.const 0x61) (i32.const 400000))
    (local.set $at (i32.const 65536))
    (loop $next
      (i32.store (local.get $at) (i32.const 131072))
      (i32.store offset=4 (local.get $at) (i32.const 400000))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 105536))))
    (i32.store8 (i32.const 256) (i32.const 1))
    (i32.store (i32.const 260) (i32.const 65536))
    (i32.store (i32.const 264) (i32.const 5000))
    (i32.const 256))
)
