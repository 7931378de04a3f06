//! Core modules become components: what compilers for WebAssembly leave to another tool.

use wit_component::{ComponentEncoder, metadata};

use super::error::PolicyError;
use crate::evidence::beginning_of;

/// The longest reason that is handed on.
const REASON: usize = 400;

/// Wraps a core module, which carries its WIT in a custom section as `wit-bindgen` leaves it, as a component.
pub fn wrap(module: &[u8]) -> Result<Vec<u8>, PolicyError> {
    let invalid = |reason: String| PolicyError::Invalid {
        reason: beginning_of(reason, REASON),
    };
    let carried = metadata::decode(module).map_err(|error| invalid(format!("{error:#}")))?;
    if carried.0.is_none() {
        let reason =
            "the core module carries no WIT: build it with wit-bindgen for the world check-policy";
        return Err(invalid(reason.to_owned()));
    }
    let component = ComponentEncoder::default()
        .module(module)
        .and_then(|encoder| encoder.validate(true).encode());
    component.map_err(|error| invalid(format!("{error:#}")))
}
