//! The policies that this program carries, so that most people never write one.

use crate::packed::Packed;

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

    /// The component. Empty where this program was built without the feature `policies`.
    pub fn component(self) -> &'static [u8] {
        self.parts().map_or(&[], |parts| parts.component.get())
    }

    /// What the build script made of it, unless this program was built without it.
    #[cfg(feature = "policies")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "without the feature there is none"
    )]
    pub(super) fn parts(self) -> Option<&'static Parts> {
        macro_rules! parts {
            ($name:literal) => {{
                static PARTS: Parts = Parts {
                    component: Packed::new(include_bytes!(concat!(
                        env!("OUT_DIR"),
                        "/",
                        $name,
                        ".wasm.packed"
                    ))),
                    code: Packed::new(include_bytes!(concat!(
                        env!("OUT_DIR"),
                        "/",
                        $name,
                        ".cwasm.packed"
                    ))),
                    digest: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".digest")),
                };
                &PARTS
            }};
        }
        Some(match self {
            Self::Cel => parts!("cel"),
            Self::Rego => parts!("rego"),
        })
    }

    #[cfg(not(feature = "policies"))]
    #[expect(clippy::unused_self, reason = "with the feature each has its own")]
    pub(super) fn parts(self) -> Option<&'static Parts> {
        None
    }
}

/// A policy in the form in which this program carries it.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "policies"),
    allow(dead_code, reason = "there is none without the feature")
)]
pub(super) struct Parts {
    component: Packed,
    /// The machine code that the build script compiled.
    pub(super) code: Packed,
    digest: &'static [u8; blake3::OUT_LEN],
}

impl Parts {
    /// The digest of the component.
    pub(super) fn digest(&self) -> blake3::Hash {
        blake3::Hash::from_bytes(*self.digest)
    }
}
