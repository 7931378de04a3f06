//! What went wrong, as problem details (RFC 9457), with the codes that are the same everywhere.

use hyper::StatusCode;
use hyper::header;
use serde_json::{Value, json};

use super::reply::{PROBLEM, Reply, set_text, text};

/// What a request can't have, and why.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    status: StatusCode,
    code: String,
    detail: String,
    /// What else there is to say, by name.
    more: Vec<(&'static str, Value)>,
    /// Headers that go with it.
    headers: Vec<(header::HeaderName, String)>,
}

impl Problem {
    pub(super) fn new(
        status: StatusCode,
        code: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            code: code.into(),
            detail: detail.into(),
            more: Vec::new(),
            headers: Vec::new(),
        }
    }

    /// With one more field.
    pub(super) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.more.push((name, value));
        self
    }

    /// With a header.
    pub(super) fn header(mut self, name: header::HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// There is too much to do; it may be tried again.
    pub(super) fn busy(code: &'static str, detail: String, limit: usize) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, code, detail)
            .with("limit", json!(limit))
            .header(header::RETRY_AFTER, "1")
    }

    /// A method that the path does not have.
    pub(super) fn method(allowed: &str) -> Self {
        let detail = format!("this path takes {allowed}");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
            .header(header::ALLOW, allowed)
    }

    /// Something that is not there.
    pub(super) fn not_found(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// What goes with a code.
    pub(super) fn by_code(code: &str, detail: impl Into<String>) -> Self {
        let status = match code {
            "memory_no_session" | "nothing_to_resume" | "memory_empty_key" => StatusCode::NOT_FOUND,
            "session_exists"
            | "loop_completed"
            | "checks_changed"
            | "files_changed"
            | "contract_changed"
            | "override_not_allowed"
            | "config_changed"
            | "memory_busy"
            | "memory_session_exists"
            | "iteration_out_of_order"
            | "invalid_snapshot"
            | "unsupported_snapshot"
            | "memory_went_back"
            | "loop_stopped"
            | "beginning_lost" => StatusCode::CONFLICT,
            "from_inside" => StatusCode::FORBIDDEN,
            // Of a request that was written down and is not what it was, too.
            "note_too_long"
            | "invalid_contract"
            | "invalid_config"
            | "invalid_json"
            | "invalid_input"
            | "unreadable_input"
            | "invalid_file"
            | "unknown_profile"
            | "cost_budget_required" => StatusCode::UNPROCESSABLE_ENTITY,
            "memory_conflict" => StatusCode::PRECONDITION_FAILED,
            "loop_unreachable" => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, code, detail)
    }

    /// A defect of this server: the details go to the log.
    pub(super) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    pub(super) fn reply(&self) -> Reply {
        let mut body = json!({
            "type": format!("urn:ralph-gate:error:{}", self.code),
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
            "code": self.code,
        });
        if let Some(fields) = body.as_object_mut() {
            let more = self.more.iter();
            fields.extend(more.map(|(name, value)| ((*name).to_owned(), value.clone())));
        }
        let mut reply = text(self.status, PROBLEM, body.to_string());
        for (name, value) in &self.headers {
            set_text(&mut reply, name.clone(), value);
        }
        reply
    }
}

/// Sees that a text of a request can be handed to a process, or written down.
pub(super) fn check_text(name: &str, text: &str, most: usize) -> Result<(), Problem> {
    let detail = if text.is_empty() || text.len() > most {
        format!("{name} must have 1 to {most} bytes, not {}", text.len())
    } else if text.contains('\0') {
        format!("{name} must not have a NUL")
    } else {
        return Ok(());
    };
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    Err(Problem::new(status, "invalid_text", detail).with("field", json!(name)))
}

#[cfg(test)]
mod tests {
    use super::super::reply::Content;
    use super::*;

    #[test]
    fn a_problem_says_what_where_and_when_to_try_again() {
        let reply =
            Problem::busy("too_many_requests", "256 requests are answered".into(), 256).reply();
        assert_eq!(reply.status(), 429);
        assert_eq!(reply.headers()["retry-after"], "1");
        assert_eq!(reply.headers()["content-type"], "application/problem+json");
        let Content::Whole(Some(body)) = reply.into_body() else {
            panic!("it is there as a whole")
        };
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["type"], "urn:ralph-gate:error:too_many_requests");
        assert_eq!(body["limit"], 256);
        assert_eq!(body["status"], 429);
    }
}
