;; Reads an artifact again and again until the host gives no more, and says whether it was told why.
;; expect: judged pass
;; reason: limit reached
;; with: realloc describe answer
(module
  (import "ralph:gate/artifacts@0.1.0" "read" (func $read (param i32 i32 i64 i32 i32)))
  (memory (export "memory") 2)
  (data (i32.const 512) "big")
  (data (i32.const 600) "limit reached" "another error")
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (global.set $next (i32.const 65536))
      (call $read (i32.const 512) (i32.const 3) (i64.const 0) (i32.const -1) (i32.const 528))
      (br_if $again (i32.eqz (i32.load8_u (i32.const 528)))))
    (if (i32.eq (i32.load8_u (i32.const 532)) (i32.const 1))
      (then (return (call $answer (i32.const 0) (i32.const 600) (i32.const 13)))))
    (call $answer (i32.const 1) (i32.const 613) (i32.const 13)))
)
