//! The packages in `bindings/`, one file each: what they need, how they are built, how they are tested.

pub(crate) mod python;
