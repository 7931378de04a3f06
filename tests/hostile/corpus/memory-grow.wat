;; Grows its memory a page at a time and writes to each, until there is no more.
;; expect: out_of_memory
;; with: memory realloc describe
(module
  (func (export "ralph:gate/policy@0.1.0#evaluate") (param i32 i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
      (drop (memory.grow (i32.const 1)))
      (local.set 0 (i32.mul (i32.sub (memory.size) (i32.const 1)) (i32.const 65536)))
      (loop $next
        (i32.store (local.get 0) (i32.const -1))
        (local.set 0 (i32.add (local.get 0) (i32.const 4096)))
        (br_if $next (i32.and (local.get 0) (i32.const 0xffff))))
      (br $again))
    unreachable)
)
