;; Has a name, a version, a summary and a schema that try to do something to a terminal, and a line end in its name.
;; expect: judged pass
;; with: memory realloc evaluate
(module
  (data (i32.const 512) "\1b[31mred\0aid = 1\1b]0;owned\07\e2\80\ae")
  (func (export "ralph:gate/policy@0.1.0#describe") (result i32)
    (local $at i32)
    (local.set $at (i32.const 64))
    (loop $next
      (i32.store (local.get $at) (i32.const 512))
      (i32.store offset=4 (local.get $at) (i32.const 28))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 96))))
    (i32.const 64))
)
