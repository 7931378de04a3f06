;; Never gets as far as its first call: the loop is in what runs when the module is instantiated.
;; expect: out_of_fuel
;; with: memory realloc describe evaluate
(module
  (func $begin (loop $again (br $again)))
  (start $begin)
)
