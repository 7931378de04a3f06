//! Nothing: this crate has dependencies alone.
//!
//! The host links wasmtime, and so does its build script, which compiles the gate. Cargo chooses features for the two
//! apart from each other, and where a crate below wasmtime has one feature more for one of them, wasmtime and Cranelift are
//! compiled twice, which takes minutes. Both depend on this crate, and so get the same features.
