//! Policies that are too large to be written down: what does harm by its size.

use std::fmt::Write as _;

use anyhow::Result;
use ralph_gate_tests::policies::{self, Written};

/// A policy that code makes.
pub(crate) struct Generated {
    pub(crate) name: &'static str,
    /// As in the files of the corpus.
    pub(crate) expect: &'static str,
    /// As in the files of the corpus.
    pub(crate) says: Option<&'static str>,
    make: fn() -> Result<Vec<u8>>,
}

impl Generated {
    const fn new(name: &'static str, expect: &'static str, make: fn() -> Result<Vec<u8>>) -> Self {
        Self {
            name,
            expect,
            says: None,
            make,
        }
    }

    const fn saying(mut self, says: &'static str) -> Self {
        self.says = Some(says);
        self
    }

    /// The file that a host is given.
    pub(crate) fn component(&self) -> Result<Vec<u8>> {
        (self.make)()
    }
}

/// What ends a compiler that does not come to an end. Which of the two it is depends on the machine.
const BOMB: &str = "compile_timed_out or compile_out_of_memory";
/// The same, where a fast machine may come to an end.
const LARGE: &str = "judged pass or compile_timed_out or compile_out_of_memory";

/// What is made.
pub(crate) const ALL: &[Generated] = &[
    // What keeps the compiler busy.
    Generated::new("compile-120000-ifs", BOMB, || {
        function(
            "",
            &"(if (local.get 0) (then (local.set 0 (i32.const 1))))\n".repeat(120_000),
        )
    }),
    Generated::new("compile-50000-locals", BOMB, many_locals),
    Generated::new("compile-40000-functions", LARGE, || {
        let one = "(func (param i32) (result i32) (i32.mul (local.get 0) (i32.const 7)))\n";
        core(&one.repeat(40_000))
    }),
    Generated::new("compile-nested-blocks", BOMB, || {
        nested("block local.get 0 br_if 0 ", "", "end ", 60_000)
    }),
    Generated::new("compile-nested-loops", BOMB, || {
        nested(
            "loop ",
            "",
            "local.get 0 i32.const 1 i32.sub local.tee 0 br_if 0 end ",
            8_000,
        )
    }),
    Generated::new("compile-nested-values", BOMB, || {
        nested(
            "local.get 0 if (result i32) ",
            "i32.const 1 ",
            "else local.get 0 end ",
            20_000,
        )
    }),
    Generated::new("compile-ways-out", BOMB, || {
        let out = "local.get 0 br_if 0 ".repeat(200_000);
        function("", &format!("block {out} end"))
    }),
    Generated::new("compile-wide-calls", BOMB, wide_calls),
    Generated::new("compile-br-table", "invalid_component", || {
        br_table(1_000_000)
    })
    .saying("`br_table` has 999999 targets"),
    Generated::new("compile-br-table-that-fits", LARGE, || br_table(65_000)),
    Generated::new("compile-many-types", LARGE, many_types),
    // What grows when it is unpacked.
    Generated::new("types-nested-tuples", "invalid_component", || {
        component(&nested_tuples(30))
    })
    .saying("effective type size exceeds the limit"),
    Generated::new("types-nested-lists", "invalid_component", || {
        component(&nested_lists(5_000))
    })
    .saying("type nesting is too deep"),
    Generated::new("types-nested-imports", BOMB, || {
        component(&nested_imports(30))
    }),
    Generated::new("types-nested-imports-that-fit", "import_denied", || {
        component(&nested_imports(8))
    }),
    Generated::new("instances-nested", BOMB, || {
        component(&nested_instances(30))
    }),
    Generated::new("instances-900", "too_many_instances", || {
        component(&instances("", 900))
    }),
    Generated::new("memories-11", "too_many_instances", || {
        component(&instances("(memory 0)", 11))
    })
    .saying("11 memories and the limit is 10"),
    Generated::new("memories-with-files", "judged pass", || {
        component(&data(9, "a"))
    }),
    Generated::new("memories-with-more-files", "too_many_instances", || {
        component(&data(99, "a"))
    }),
    Generated::new("tables-180", "too_many_instances", || {
        component(&instances("(table 0 funcref) (table 0 funcref)", 90))
    })
    .saying("tables and the limit is 100"),
    Generated::new("data-far-apart", "judged pass", || {
        component(&data_far_apart(3))
    }),
    Generated::new("data-again-and-again", "out_of_fuel", || {
        component(&data_again(7_000_000, 90))
    }),
    Generated::new("elements-again-and-again", BOMB, || {
        component(&elements_again(100_000, 90))
    }),
    Generated::new("elements-many", BOMB, || {
        component(&elements_again(1_000_000, 1))
    }),
    Generated::new("names-many", "invalid_component", names_many)
        .saying("effective type size exceeds the limit"),
    Generated::new("names-long", "judged pass", || component(&names_long())),
    Generated::new("import-with-a-long-name", "import_denied", || {
        component(&format!("(import \"a{}\" (func))", "b".repeat(90_000)))
    }),
    // What is no component, or none any more.
    Generated::new("file-empty", "invalid_component", || Ok(Vec::new())),
    Generated::new("file-of-eight-bytes", "wrong_world", || {
        Ok(b"\0asm\x0d\0\x01\0".to_vec())
    }),
    Generated::new("file-of-text", "invalid_component", || {
        Ok(b"(component)".to_vec())
    }),
    Generated::new("file-of-zeros", "invalid_component", || {
        Ok(vec![0; 1 << 20])
    }),
    Generated::new("file-of-100-megabytes", "component_too_large", || {
        Ok(vec![0; 100 << 20])
    }),
    Generated::new("file-with-zeros-behind", "invalid_component", || {
        with_zeros_behind(1 << 20)
    }),
    Generated::new(
        "file-with-100-megabytes-behind",
        "component_too_large",
        || with_zeros_behind(100 << 20),
    ),
];

/// A core module with something beside an honest policy.
fn core(text: &str) -> Result<Vec<u8>> {
    beside("memory realloc describe evaluate", "module", text)
}

/// A component with something beside an honest policy.
fn component(text: &str) -> Result<Vec<u8>> {
    beside("policy", "component", text)
}

fn beside(parts: &str, form: &str, text: &str) -> Result<Vec<u8>> {
    let header = format!(";; Generated.\n;; expect: judged pass\n;; with: {parts}\n");
    Written::parse("generated", &format!("{header}({form}\n{text}\n)\n"))?.component()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect()
}

/// One function that nobody calls.
fn function(locals: &str, body: &str) -> Result<Vec<u8>> {
    core(&format!("(func (param i32) {locals}\n{body})"))
}

fn nested(begin: &str, middle: &str, end: &str, depth: usize) -> Result<Vec<u8>> {
    let (begin, end) = (begin.repeat(depth), end.repeat(depth));
    let rest = if middle.is_empty() { "" } else { "drop" };
    function("", &format!("{begin}{middle}{end}{rest}"))
}

/// As many locals as a function may have, each made of two others, again and again on two ways.
fn many_locals() -> Result<Vec<u8>> {
    const LOCALS: u64 = 49_000;
    let mut body = String::new();
    for number in 0..LOCALS {
        let (one, other) = (number * 7919 % LOCALS + 1, number * 104_729 % LOCALS + 1);
        let sum = format!("(i64.add (local.get {one}) (local.get {other}))");
        let _ = writeln!(body, "(local.set {} {sum})", number + 1);
        if number.is_multiple_of(50) {
            let _ = writeln!(
                body,
                "(if (local.get 0) (then (local.set {one} (i64.const 3))))"
            );
        }
    }
    function(&format!("(local {})", "i64 ".repeat(49_000)), &body)
}

/// Calls that hand over a thousand values and get a thousand.
fn wide_calls() -> Result<Vec<u8>> {
    let types = "i64 ".repeat(1000);
    let values = joined((0..1000).map(|index| format!("local.get {index} ")));
    let calls = "call $wide ".repeat(2000);
    core(&format!(
        "(func $wide (param {types}) (result {types}) {values} {calls})"
    ))
}

/// A choice of so many ways.
fn br_table(ways: usize) -> Result<Vec<u8>> {
    const BLOCKS: usize = 2000;
    let targets = joined((0..ways).map(|way| format!("{} ", way % BLOCKS)));
    let ends = "end local.get 0 i32.const 1 i32.add local.set 0 ".repeat(BLOCKS);
    let blocks = "block ".repeat(BLOCKS);
    function(
        "",
        &format!("{blocks}(br_table {targets} (local.get 0)){ends}"),
    )
}

/// A hundred thousand types that are all different.
fn many_types() -> Result<Vec<u8>> {
    let name = |bit: u32, number: u32| {
        if number >> bit & 1 == 1 {
            "i32 "
        } else {
            "i64 "
        }
    };
    let one = |number: u32| -> String { (0..17).map(|bit| name(bit, number)).collect() };
    let types =
        joined((0..100_000).map(|number| format!("(type (func (param {})))\n", one(number))));
    core(&types)
}

/// Pairs of pairs of pairs.
fn nested_tuples(depth: usize) -> String {
    let mut text = String::from("(type $t0 (tuple u8 u8))\n");
    for level in 1..depth {
        let below = level - 1;
        let _ = writeln!(text, "(type $t{level} (tuple $t{below} $t{below}))");
    }
    text
}

fn nested_lists(depth: usize) -> String {
    let mut text = String::from("(type $t0 (list u8))\n");
    for level in 1..depth {
        let _ = writeln!(text, "(type $t{level} (list $t{}))", level - 1);
    }
    text
}

/// An import that consists of two that consist of two …
fn nested_imports(depth: usize) -> String {
    let mut text = String::from("(type $t0 (instance (export \"a\" (type (sub resource)))))\n");
    for level in 1..depth {
        let below = format!("(alias outer 1 $t{} (type $below))", level - 1);
        let two = "(export \"a\" (instance (type $below))) (export \"b\" (instance (type $below)))";
        let _ = writeln!(text, "(type $t{level} (instance {below} {two}))");
    }
    let _ = writeln!(text, "(import \"x:y/z\" (instance (type $t{})))", depth - 1);
    text
}

/// A component that is made of two that are made of two …
fn nested_instances(depth: usize) -> String {
    let mut text =
        String::from("(component $c0 (core module $m) (core instance (instantiate $m)))\n");
    for level in 1..depth {
        let below = format!("(alias outer 1 $c{} (component $below))", level - 1);
        let two = "(instance (instantiate $below)) (instance (instantiate $below))";
        let _ = writeln!(text, "(component $c{level} {below} {two})");
    }
    let _ = writeln!(text, "(instance (instantiate $c{}))", depth - 1);
    text
}

/// So many instances of a module.
fn instances(module: &str, count: usize) -> String {
    let instances = "(core instance (instantiate $m))\n".repeat(count);
    format!("(core module $m {module})\n{instances}")
}

/// So many modules with data of their own.
fn data(count: usize, bytes: &str) -> String {
    let mut text = String::new();
    for number in 0..count {
        let data = format!("(data (i32.const 0) \"{bytes}{number}\")");
        let _ = writeln!(text, "(core module $m{number} (memory 1) {data})");
        let _ = writeln!(text, "(core instance (instantiate $m{number}))");
    }
    text
}

/// So many modules with a byte at the beginning and one at the end of sixteen megabytes.
fn data_far_apart(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let data = format!("(data (i32.const 0) \"{number}\") (data (i32.const 16777215) \"b\")");
        let _ = writeln!(text, "(core module $m{number} (memory 256) {data})");
        let _ = writeln!(text, "(core instance (instantiate $m{number}))");
    }
    text
}

/// The same data, written so many times before the first call.
fn data_again(size: usize, times: usize) -> String {
    let data = "a".repeat(size);
    format!(
        "(core module $owner (memory (export \"m\") 200))\n(core instance $owner (instantiate $owner))\n\
         (core module $m (import \"o\" \"m\" (memory 200)) (data (i32.const 0) \"{data}\"))\n{}",
        "(core instance (instantiate $m (with \"o\" (instance $owner))))\n".repeat(times)
    )
}

/// The same elements of a table, written so many times before the first call.
fn elements_again(count: usize, times: usize) -> String {
    let elements = "0 ".repeat(count);
    format!(
        "(core module $owner (table (export \"t\") {count} funcref))\n(core instance $owner (instantiate $owner))\n\
         (core module $m (import \"o\" \"t\" (table {count} funcref)) (func) (elem (i32.const 0) func {elements}))\n{}",
        "(core instance (instantiate $m (with \"o\" (instance $owner))))\n".repeat(times)
    )
}

/// A module that exports one function under half a million names.
fn names_many() -> Result<Vec<u8>> {
    let names = (0..500_000).map(|number| format!("(export \"{number:x}\" (func 0))\n"));
    component(&format!(
        "(core module (func) {})",
        names.collect::<String>()
    ))
}

/// Exports whose names are as long as names may be.
fn names_long() -> String {
    let name = "a".repeat(90_000);
    let exports = (0..80).map(|number| format!("(export \"x{number}{name}\" (core module $m))\n"));
    format!("(core module $m)\n{}", exports.collect::<String>())
}

fn with_zeros_behind(zeros: usize) -> Result<Vec<u8>> {
    let mut bytes = policies::component("realloc-always-the-same")?;
    bytes.resize(bytes.len() + zeros, 0);
    Ok(bytes)
}
