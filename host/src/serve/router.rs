//! From a request to its answer: who may ask, how much at once, and who answers.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use ralph_gate_http::routes::OPENAPI;
use serde_json::json;
use tokio::time::timeout;

use super::Shared;
use super::accept::Line;
use super::access::Told;
use super::asked::Asked;
use super::problem::Problem;
use super::reply::{Content, JSON, Reply, text};
use super::{gate, loops, sessions};

/// The text format of Prometheus.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
/// The description of all paths: made from the WIT by `xtask`.
const DOCUMENT: &str = include_str!("openapi.json");

/// The path that gives back what it gets.
const ECHO: &str = "/echo";

/// A body with at most so many bytes is received whoever else sends one.
const SHORT: u64 = 64 << 10;
/// How many longer ones are received at the same time.
pub(super) const LONG_SEATS: usize = 64;

/// Who answers a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Route {
    Metrics,
    /// What is found under which path, here and in the component.
    Document,
    Loops(loops::Path),
    Sessions(sessions::Path),
    /// Gives back what it gets, where that is asked for: for measuring.
    Echo,
    /// The component: it knows which paths it has.
    Gate,
}

impl Route {
    fn of(path: &str, echo: bool) -> Self {
        match path {
            ECHO if echo => return Self::Echo,
            "/metrics" => return Self::Metrics,
            OPENAPI => return Self::Document,
            _ => {}
        }
        let loops = loops::Path::of(path).map(Self::Loops);
        loops
            .or_else(|| sessions::Path::of(path).map(Self::Sessions))
            .unwrap_or(Self::Gate)
    }

    /// Its pattern, for counting.
    fn pattern(&self, path: &str) -> &'static str {
        match self {
            Self::Metrics => "/metrics",
            Self::Document => OPENAPI,
            Self::Echo => ECHO,
            Self::Loops(path) => path.pattern(),
            Self::Sessions(path) => path.pattern(),
            Self::Gate => gate::pattern(path),
        }
    }
}

/// Answers a request, whatever it is.
pub(super) async fn answer(
    shared: Arc<Shared>,
    line: Arc<Line>,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let begun = Instant::now();
    line.work();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = Route::of(&path, shared.echo);
    let pattern = route.pattern(&path);
    let mut received = 0;
    let answered = respond(&shared, route, request, &mut received).await;
    let mut reply = answered.unwrap_or_else(|problem| problem.reply());
    let nosniff = HeaderValue::from_static("nosniff");
    reply
        .headers_mut()
        .insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    let (status, taken) = (reply.status().as_u16(), begun.elapsed());
    shared.metrics.answered(&method, pattern, status, taken);
    shared.access.tell(&Told {
        peer,
        method: method.as_str(),
        path: &path,
        status,
        taken,
        received,
        sent: reply.body().len(),
    });
    // A stream is not idle, however long it is silent.
    if matches!(reply.body(), Content::Whole(_)) {
        line.rest();
    }
    Ok(reply)
}

async fn respond(
    shared: &Arc<Shared>,
    route: Route,
    request: Request<Incoming>,
    received: &mut usize,
) -> Result<Reply, Problem> {
    let is_health = request.uri().path() == "/healthz";
    if !is_health {
        shared.door.enter(request.headers())?;
    }
    match route {
        Route::Metrics => return look(request.method(), METRICS, shared.metrics.text()),
        Route::Document => return look(request.method(), JSON, DOCUMENT),
        Route::Loops(_) | Route::Sessions(_) | Route::Echo | Route::Gate => {}
    }
    // First the body: whoever sends it slowly keeps no seat from others.
    let asked = whole(shared, request).await?;
    *received = asked.body.len();
    let limit = shared.limits.requests;
    let _seat = shared.seats.try_acquire().map_err(|_| {
        let detail = format!("{limit} requests are being answered; try again");
        Problem::busy("too_many_requests", detail, limit)
    })?;
    let _counted = shared.metrics.answering.enter();
    let answered = async {
        match route {
            Route::Loops(path) => loops::answer(shared, path, asked).await,
            Route::Sessions(path) => sessions::answer(shared, path, asked).await,
            Route::Echo => Ok(text(StatusCode::OK, JSON, asked.body)),
            Route::Gate | Route::Metrics | Route::Document => gate::answer(shared, asked).await,
        }
    };
    let limit = shared.limits.answer;
    timeout(limit, answered).await.unwrap_or_else(|_| {
        let detail = format!("this took longer than {} s", limit.as_secs());
        Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "answer_timed_out",
            detail,
        ))
    })
}

/// Something that is there to be looked at.
fn look(method: &Method, kind: &'static str, body: impl Into<Bytes>) -> Result<Reply, Problem> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Err(Problem::method("GET, HEAD"));
    }
    Ok(text(StatusCode::OK, kind, body))
}

/// Waits for the body, but not for ever, and not for more of it than it may have.
async fn whole(shared: &Shared, request: Request<Incoming>) -> Result<Asked, Problem> {
    let limits = &shared.limits;
    let (parts, body) = request.into_parts();
    let announced = body.size_hint().lower();
    if announced > u64::try_from(limits.body).unwrap_or(u64::MAX) {
        return Err(too_large(limits.body).with("observed", json!(announced)));
    }
    // Long bodies are kept in memory while they come: only a few at a time.
    let is_short = body.size_hint().upper().is_some_and(|most| most <= SHORT);
    let _seat = if is_short {
        None
    } else {
        let seat = shared.long_seats.try_acquire();
        Some(seat.map_err(|_| {
            let detail = format!("{LONG_SEATS} long bodies are being received; try again");
            Problem::busy("too_many_long_bodies", detail, LONG_SEATS)
        })?)
    };
    let body = Limited::new(body, limits.body).collect();
    let body = match timeout(limits.body_time, body).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large(limits.body)),
        Ok(Err(error)) => {
            let detail = format!("the body can't be read: {error}");
            return Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "unreadable_body",
                detail,
            ));
        }
        Err(_) => {
            let seconds = limits.body_time.as_secs();
            let detail = format!("the body was not there after {seconds} s");
            return Err(
                Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timed_out", detail)
                    .header(header::CONNECTION, "close"),
            );
        }
    };
    Ok(Asked {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        body,
    })
}

fn too_large(limit: usize) -> Problem {
    let detail = format!("the body has more than {limit} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail)
        .with("limit", json!(limit))
        .header(header::CONNECTION, "close")
}
