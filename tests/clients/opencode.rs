//! opencode with the gate's plugin. Apart from the other clients, because it is as large as both.

#![cfg(target_os = "linux")]

use ralph_gate_tests::clients::model_server::{Turn, last_said};
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::clients::{Client, Scope};
use ralph_gate_tests::offline_tests;

#[path = "gate/mod.rs"]
mod gate;
