//! What must hold for any input: one function per parser of the gate, which panics where it does not hold.
//!
//! The fuzz targets of `tests/fuzz` and the property tests call the same functions, so a rule is written
//! once. Each takes the raw bytes of one input; where an input has several parts, a record separator
//! (U+001E) stands between them.

pub mod contract;
pub mod differential;
pub mod evaluate;
pub mod fingerprint;
pub mod loop_file;
pub mod prd;
pub mod progress;
pub mod promise;
pub mod route;
pub mod session;
pub mod signal;
pub mod snapshot;
pub mod spans;
pub mod tree;

use std::borrow::Cow;

/// A set of rules about one parser.
pub struct Target {
    /// The name of the fuzz target, and of its folder of inputs.
    pub name: &'static str,
    /// Panics when a rule is broken.
    pub check: fn(&[u8]),
}

/// Every target but `differential`, which needs the component.
pub const TARGETS: &[Target] = &[
    Target {
        name: "contract",
        check: contract::check,
    },
    Target {
        name: "evaluate",
        check: evaluate::check,
    },
    Target {
        name: "fingerprint",
        check: fingerprint::check,
    },
    Target {
        name: "json",
        check: tree::check_json,
    },
    Target {
        name: "loop_file",
        check: loop_file::check,
    },
    Target {
        name: "prd",
        check: prd::check,
    },
    Target {
        name: "progress",
        check: progress::check,
    },
    Target {
        name: "promise",
        check: promise::check,
    },
    Target {
        name: "route",
        check: route::check,
    },
    Target {
        name: "session",
        check: session::check,
    },
    Target {
        name: "signal",
        check: signal::check,
    },
    Target {
        name: "snapshot",
        check: snapshot::check,
    },
    Target {
        name: "toml",
        check: tree::check_toml,
    },
    Target {
        name: "yaml",
        check: tree::check_yaml,
    },
];

/// Stands between the parts of one input.
pub const SEPARATOR: char = '\u{1e}';

/// The text of an input. The gate takes text only, so broken UTF-8 is repaired as a host would.
pub fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}
