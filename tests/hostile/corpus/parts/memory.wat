  ;; Two pages: the first is for what the file itself puts there, the second for what its host hands over.
  (memory (export "memory") 2)
