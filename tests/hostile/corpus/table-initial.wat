;; Has a table of ten million elements before it runs.
;; expect: out_of_memory
;; with: memory realloc describe evaluate
(module
  (table 10000000 funcref)
)
