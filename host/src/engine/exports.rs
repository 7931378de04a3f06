//! Where the gate's functions are, found once when it is loaded.

use wasmtime::component::{Component, ComponentExportIndex};

const GATE: &str = "ralph:gate/gate@0.1.0";
const JSON: &str = "ralph:gate/json@0.1.0";

/// Declares the table of functions: a field, and the name in the WIT.
macro_rules! exports {
    ($($field:ident: $interface:ident $name:literal,)+) => {
        /// One index per function of the WIT.
        pub(crate) struct Exports {
            $(pub(crate) $field: ComponentExportIndex,)+
        }

        impl Exports {
            pub(crate) fn find(component: &Component) -> wasmtime::Result<Self> {
                Ok(Self { $($field: find(component, $interface, $name)?,)+ })
            }
        }
    };
}

exports! {
    json_call: JSON "call",
    check_contract: GATE "check-contract",
    route: GATE "route",
    evaluate_final: GATE "evaluate-final",
    session_open: GATE "[static]session.open",
    session_evaluate_final: GATE "[method]session.evaluate-final",
    session_evaluate_final_json: GATE "[method]session.evaluate-final-json",
    session_brief: GATE "[method]session.brief",
    session_snapshot: GATE "[method]session.snapshot",
    write_brief: GATE "write-brief",
    resume: GATE "resume",
    parse_promises: GATE "parse-promises",
    take_fingerprint: GATE "take-fingerprint",
    decide_signal: GATE "decide-signal",
    read_snapshot: GATE "read-snapshot",
    read_prd: GATE "read-prd",
    update_prd: GATE "update-prd",
    read_progress: GATE "read-progress",
    write_progress: GATE "write-progress",
    read_loop_file: GATE "read-loop-file",
    update_loop_file: GATE "update-loop-file",
    write_loop_file: GATE "write-loop-file",
}

fn find(
    component: &Component,
    interface: &str,
    name: &str,
) -> wasmtime::Result<ComponentExportIndex> {
    component
        .get_export_index(None, interface)
        .and_then(|interface| component.get_export_index(Some(&interface), name))
        .ok_or_else(|| wasmtime::Error::msg(format!("the gate has no `{name}` in `{interface}`")))
}
