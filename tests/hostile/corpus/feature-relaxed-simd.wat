;; Instructions whose results processors may choose.
;; expect: invalid_component
;; says: relaxed SIMD
;; with: policy
(component
  (core module (func (result v128) (i32x4.relaxed_trunc_f32x4_s (v128.const i32x4 0 0 0 0))))
)
