//! The course of a loop, as its memory has it: what is saved when it begins, when an iteration was judged, and when it
//! goes on after a stop. Every harness leaves the same traces, so that each can continue the other's loops.

mod begun;
mod ending;
mod evaluated;
mod handoff;
mod labels;
mod records;
mod resumed;

pub use ending::{iterations, why, words};
pub use evaluated::Evaluated;
pub use handoff::{Circumstances, Run, handoff};
pub use labels::{LabelError, add_label, check_label, check_labels};
pub use records::{
    AttendedRecord, AuditRecord, AuditedCheck, ClientEndedRecord, ClientRecord, Given, Heard,
    LoopFileRecord, LoopRecord, ResumeRecord, RunnerCommand, Tripped, Truth, VerdictRecord,
    Witness, names, word,
};
pub use resumed::{Reopened, reopen};
