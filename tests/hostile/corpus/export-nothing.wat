;; Offers nothing.
;; expect: wrong_world
(component)
