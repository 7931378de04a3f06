//! Core modules become components: what compilers for WebAssembly leave to another tool.

use wit_component::ComponentEncoder;

use super::error::PolicyError;
use crate::evidence::beginning_of;

/// The longest reason that is handed on.
const REASON: usize = 400;

/// Wraps a core module, which carries its WIT in a custom section as `wit-bindgen` leaves it, as a component.
pub fn wrap(module: &[u8]) -> Result<Vec<u8>, PolicyError> {
    let component = ComponentEncoder::default()
        .module(module)
        .and_then(|encoder| encoder.validate(true).encode());
    component.map_err(|error| PolicyError::Invalid {
        reason: beginning_of(format!("{error:#}"), REASON),
    })
}
