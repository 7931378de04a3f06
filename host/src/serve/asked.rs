//! A request whose body is there.

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::problem::Problem;

/// The longest request to begin, to go on with or to end something, in bytes.
const LONGEST_ORDER: usize = 1 << 20;

/// A request whose body is there.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: Method,
    /// The path, without what follows a question mark.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Asked {
    /// A header's text. None if there is none, or none that is text.
    pub(super) fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as text that is said to be JSON.
    pub(super) fn json_text(&self) -> Result<&str, Problem> {
        let kind = self.header(header::CONTENT_TYPE).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let detail = "send JSON, with `Content-Type: application/json`";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "unsupported_media_type", detail));
        }
        std::str::from_utf8(&self.body).map_err(|_| {
            let detail = "the body is not UTF-8";
            Problem::new(StatusCode::BAD_REQUEST, "invalid_utf8", detail)
        })
    }

    /// Refuses a body that is longer than an order may be: what is kept of a beginning is written again with every change,
    /// and a short text is read where others wait.
    pub(super) fn see_that_it_is_short(&self) -> Result<(), Problem> {
        let observed = self.body.len();
        if observed <= LONGEST_ORDER {
            return Ok(());
        }
        let detail = format!(
            "what begins a loop, goes on with it or ends it has at most {LONGEST_ORDER} bytes, not {observed}"
        );
        let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail);
        Err(problem
            .with("observed", json!(observed))
            .with("limit", json!(LONGEST_ORDER)))
    }

    /// The body as a value.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_str(self.json_text()?).map_err(|error| {
            let status = if error.is_data() {
                StatusCode::UNPROCESSABLE_ENTITY
            } else {
                StatusCode::BAD_REQUEST
            };
            let detail = format!("the body can't be used: {error}");
            Problem::new(status, "invalid_json", detail)
        })
    }
}
