//! The gate behind HTTP: a request becomes a call of the JSON face, and its answer a response. No state, no rule.
//!
//! ```
//! use ralph_gate_http::{Request, answer};
//!
//! let request = Request {
//!     method: "POST",
//!     path: "/v1/promise",
//!     content_type: Some("application/json"),
//!     ..Request::default()
//! };
//! let response = answer(&request, || Ok(br#"{"output": "<promise>DONE</promise>"}"#.to_vec()));
//! assert_eq!(response.status, 200);
//! assert!(response.body.unwrap().starts_with(r#"{"accepted":"DONE""#));
//! ```

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod answer;
#[cfg(feature = "component")]
mod component;
mod media_type;
pub mod problem;
pub mod routes;

pub use answer::{BodyError, MAX_BODY, Request, Response, answer};
pub use problem::Problem;
