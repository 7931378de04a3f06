;; Has more memory than it may have before it runs.
;; expect: out_of_memory
;; with: realloc describe evaluate
(module
  (memory (export "memory") 20000)
)
