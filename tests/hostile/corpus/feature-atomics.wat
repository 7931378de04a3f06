;; Instructions for threads.
;; expect: invalid_component
;; says: threads
;; with: policy
(component
  (core module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))
)
