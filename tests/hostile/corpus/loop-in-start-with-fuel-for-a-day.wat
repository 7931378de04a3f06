;; The same, before its first call.
;; expect: timed_out
;; fuel: 1000000000000
;; with: memory realloc describe evaluate
(module
  (func $begin (loop $again (br $again)))
  (start $begin)
)
