;; Two memories in one module, which the compiler needs for components of several parts.
;; expect: judged pass
;; with: policy
(component
  (core module (memory 1) (memory 1))
)
