//! The gate compiled with wasm-bindgen, to be compared with the component that is shipped: `cargo xtask bench web`.

use wasm_bindgen::prelude::wasm_bindgen;

/// The JSON face.
#[wasm_bindgen]
pub fn call(function: &str, input: &str) -> String {
    ralph_gate_component::json::call(function, input)
}

/// A loop that is open.
#[wasm_bindgen]
pub struct Session(ralph_gate_component::session::Session);

#[wasm_bindgen]
impl Session {
    /// Opens a new loop.
    #[wasm_bindgen(constructor)]
    pub fn open(contract: &str) -> Result<Self, String> {
        ralph_gate_component::session::Session::open(contract, None)
            .map(Self)
            .map_err(|error| ralph_gate_component::json::error_text(&error))
    }

    /// Judges the next iteration.
    pub fn evaluate_final(&mut self, iteration: &str) -> String {
        ralph_gate_component::json::evaluate_on(&mut self.0, iteration)
    }
}
