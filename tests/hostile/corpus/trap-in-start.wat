;; Gives up before its first call.
;; expect: trapped
;; with: memory realloc describe evaluate
(module
  (func $begin unreachable)
  (start $begin)
)
