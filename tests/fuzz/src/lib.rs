//! What the fuzz targets share: the rules of the property tests, and the component in a process of its own.

#[path = "../../properties/invariants/mod.rs"]
pub mod invariants;
pub mod partner;
