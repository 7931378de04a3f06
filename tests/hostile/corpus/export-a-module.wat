;; Is a core module, and no component.
;; expect: invalid_component
;; as: module
(module (memory 1))
