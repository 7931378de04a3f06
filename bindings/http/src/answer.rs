//! From a request to a response. Pure: a body is asked for once it is known that it is wanted.

use std::borrow::Cow;

use ralph_gate_component::json;
use ralph_gate_component::tree::decode::{closest, shorten};

use crate::media_type;
use crate::problem::{self, Code, Problem};
use crate::routes::{self, CALL, OPENAPI, ROUTES, Route, Target};

/// The most bytes that a body may have.
pub const MAX_BODY: u64 = 16 << 20;

/// The description of all paths: made from the WIT by `xtask`.
const DOCUMENT: &str = include_str!("../openapi.json");

/// What comes before the body of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request<'r> {
    /// The method, as it was written.
    pub method: &'r str,
    /// The path, with or without a query.
    pub path: &'r str,
    /// The header `content-type`.
    pub content_type: Option<&'r str>,
    /// The header `content-encoding`.
    pub content_encoding: Option<&'r str>,
    /// How many bytes the body is said to have.
    pub content_length: Option<u64>,
}

/// A body that was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// It has more than [`MAX_BODY`] bytes.
    TooLarge,
    /// It broke off.
    Incomplete,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(&'static str, String)>,
    /// None for a request that asks for the head alone.
    pub body: Option<Cow<'static, str>>,
}

/// Answers a request. `body` is called at most once, and only where the rest of the request is right.
pub fn answer(
    request: &Request<'_>,
    body: impl FnOnce() -> Result<Vec<u8>, BodyError>,
) -> Response {
    let path = request.path.split(['?', '#']).next().unwrap_or_default();
    let mut response = match path.strip_prefix(CALL) {
        Some(function) => named(function, request, body),
        None => routed(path, request, body),
    };
    if request.method == "HEAD" {
        response.body = None;
    }
    response
}

/// Asks for a function by its own name.
fn named(
    function: &str,
    request: &Request<'_>,
    body: impl FnOnce() -> Result<Vec<u8>, BodyError>,
) -> Response {
    if request.method != "POST" {
        let detail = format!("a function takes POST, not `{}`", shorten(request.method));
        let mut response = refuse(&Problem::new(Code::MethodNotAllowed, detail));
        response.headers.push(("allow", "POST".to_owned()));
        return response;
    }
    call(function, request, body).map_or_else(
        |problem| refuse(&problem),
        |answer| succeed(Cow::Owned(answer)),
    )
}

fn routed(
    path: &str,
    request: &Request<'_>,
    body: impl FnOnce() -> Result<Vec<u8>, BodyError>,
) -> Response {
    match find(path) {
        Err(problem) => refuse(&problem),
        Ok(route) if !route.takes(request.method) => {
            let mut response = refuse(&other_method(route, request.method));
            response.headers.push(("allow", route.allow().to_owned()));
            response
        }
        Ok(route) => match route.target {
            Target::OpenApi => succeed(DOCUMENT),
            Target::Health => succeed(health()),
            Target::Function(name) => call(name, request, body).map_or_else(
                |problem| refuse(&problem),
                |answer| succeed(Cow::Owned(answer)),
            ),
        },
    }
}

fn find(path: &str) -> Result<&'static Route, Problem> {
    routes::find(path).ok_or_else(|| {
        let remedy = match closest(path, ROUTES.iter().map(|route| route.path)) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("{OPENAPI} lists every path"),
        };
        let detail = format!("there is nothing under `{}`; {remedy}", shorten(path));
        Problem::new(Code::NotFound, detail)
    })
}

fn other_method(route: &Route, method: &str) -> Problem {
    let (path, allow) = (route.path, route.allow());
    let detail = format!("`{path}` takes {allow}, not `{}`", shorten(method));
    Problem::new(Code::MethodNotAllowed, detail)
}

/// Asks the gate.
fn call(
    function: &str,
    request: &Request<'_>,
    body: impl FnOnce() -> Result<Vec<u8>, BodyError>,
) -> Result<String, Problem> {
    check_head(request)?;
    let body = body().map_err(|error| match error {
        BodyError::TooLarge => too_large(None),
        BodyError::Incomplete => Problem::new(
            Code::IncompleteBody,
            "the body broke off before its end; send it again",
        ),
    })?;
    let text = String::from_utf8(body).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let detail = format!("the body is not UTF-8 from byte {at} on; JSON is written in UTF-8");
        Problem::new(Code::InvalidUtf8, detail)
    })?;
    Ok(json::answer(function, &text)?)
}

/// What the head already says about the body.
fn check_head(request: &Request<'_>) -> Result<(), Problem> {
    let refuse = |what: String| {
        let detail = format!("{what}; send JSON, with `content-type: application/json`");
        Err(Problem::new(Code::UnsupportedMediaType, detail))
    };
    match request.content_type {
        None => return refuse("the request has no `content-type`".to_owned()),
        Some(text) if !media_type::is_json(text) => {
            return refuse(format!("the `content-type` is `{}`", shorten(text)));
        }
        Some(_) => {}
    }
    if let Some(coding) = request.content_encoding
        && !coding.trim().eq_ignore_ascii_case("identity")
    {
        let coding = shorten(coding);
        return refuse(format!("the `content-encoding` `{coding}` is not read"));
    }
    match request.content_length {
        Some(length) if length > MAX_BODY => Err(too_large(Some(length))),
        _ => Ok(()),
    }
}

fn too_large(observed: Option<u64>) -> Problem {
    let detail = match observed {
        Some(bytes) => format!("the body has {bytes} bytes; at most {MAX_BODY} are read"),
        None => format!("the body has more than the {MAX_BODY} bytes that are read"),
    };
    Problem::new(Code::BodyTooLarge, detail).with_limit(observed, MAX_BODY)
}

fn health() -> String {
    format!(
        r#"{{"status":"ok","version":"{}"}}"#,
        env!("CARGO_PKG_VERSION")
    )
}

fn succeed(body: impl Into<Cow<'static, str>>) -> Response {
    respond(200, "application/json", body.into())
}

fn refuse(problem: &Problem) -> Response {
    respond(
        problem.status(),
        problem::MEDIA_TYPE,
        Cow::Owned(problem.to_text()),
    )
}

fn respond(status: u16, media_type: &str, body: Cow<'static, str>) -> Response {
    Response {
        status,
        headers: vec![
            ("content-type", media_type.to_owned()),
            ("content-length", body.len().to_string()),
        ],
        body: Some(body),
    }
}

#[cfg(test)]
mod tests;
