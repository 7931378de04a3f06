//! The policies that this program carries, so that most people never write one.

/// A policy that this program carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shipped {
    /// Evaluates an expression of the Common Expression Language.
    Cel,
    /// Evaluates a module of Rego.
    Rego,
}

impl Shipped {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Cel, Self::Rego];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cel => "cel",
            Self::Rego => "rego",
        }
    }

    /// The component.
    pub fn component(self) -> &'static [u8] {
        match self {
            Self::Cel => include_bytes!(concat!(env!("OUT_DIR"), "/cel.wasm")),
            Self::Rego => include_bytes!(concat!(env!("OUT_DIR"), "/rego.wasm")),
        }
    }

    /// Its machine code, which the build script compiled.
    pub(super) fn code(self) -> &'static [u8] {
        match self {
            Self::Cel => include_bytes!(concat!(env!("OUT_DIR"), "/cel.cwasm")),
            Self::Rego => include_bytes!(concat!(env!("OUT_DIR"), "/rego.cwasm")),
        }
    }
}
