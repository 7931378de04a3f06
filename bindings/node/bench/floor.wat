;; A policy for opa-wasm that was written by hand, because no package carries OPA's compiler: ABI 1.2.
;;
;; It does the least that a policy compiled by OPA does with its input: goes over the JSON once, byte by byte, taking
;; escapes apart and copying the texts; then it answers. OPA's own parser also builds a tree of values, and its policies
;; then look at them. So this is a floor: opa-wasm with any policy of OPA takes longer.
(module
  (import "env" "memory" (memory 2))
  (global (export "opa_wasm_abi_version") i32 (i32.const 1))
  (global (export "opa_wasm_abi_minor_version") i32 (i32.const 3))
  (global $heap (mut i32) (i32.const 4096))
  (data (i32.const 1024) "{}\00")
  (data (i32.const 1056) "{\"loop/allow\":0}\00")
  (data (i32.const 1088) "[{\"result\":true}]\00")
  (data (i32.const 1120) "[{\"result\":false}]\00")
  (func (export "opa_heap_ptr_get") (result i32) (global.get $heap))
  (func (export "opa_heap_ptr_set") (param i32) (global.set $heap (local.get 0)))
  (func (export "opa_malloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $heap))
    (global.set $heap (i32.add (local.get $at) (local.get $size)))
    (local.get $at))
  (func (export "opa_json_parse") (param i32 i32) (result i32) (local.get 0))
  (func (export "opa_json_dump") (param i32) (result i32) (local.get 0))
  (func (export "builtins") (result i32) (i32.const 1024))
  (func (export "entrypoints") (result i32) (i32.const 1056))
  (func (export "opa_eval")
    (param $reserved i32) (param $entry i32) (param $data i32) (param $input i32) (param $length i32) (param $at i32) (param $format i32)
    (result i32)
    (local $end i32) (local $byte i32) (local $quoted i32) (local $texts i32)
    (local.set $end (i32.add (local.get $input) (local.get $length)))
    ;; Room for the copies, as OPA's allocator would make it.
    (if (i32.gt_u (i32.add (local.get $at) (local.get $length)) (i32.mul (memory.size) (i32.const 65536)))
      (then (drop (memory.grow (i32.add (i32.div_u (local.get $length) (i32.const 65536)) (i32.const 1))))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $input) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $input)))
        (if (i32.eq (local.get $byte) (i32.const 34))
          (then
            (local.set $quoted (i32.xor (local.get $quoted) (i32.const 1)))
            (local.set $texts (i32.add (local.get $texts) (local.get $quoted))))
          (else
            (if (local.get $quoted)
              (then
                ;; A backslash stands for the byte after it.
                (if (i32.eq (local.get $byte) (i32.const 92))
                  (then
                    (local.set $input (i32.add (local.get $input) (i32.const 1)))
                    (local.set $byte (i32.load8_u (local.get $input)))))
                (i32.store8 (local.get $at) (local.get $byte))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))))))
        (local.set $input (i32.add (local.get $input) (i32.const 1)))
        (br $next)))
    (if (result i32) (i32.gt_u (local.get $texts) (i32.const 1000)) (then (i32.const 1120)) (else (i32.const 1088)))))
