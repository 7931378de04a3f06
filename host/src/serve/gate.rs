//! What the component answers: everything that needs no memory.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Request;
use hyper::header;
use ralph_gate_http::routes;

use super::Shared;
use super::asked::Asked;
use super::problem::Problem;
use super::reply::{Content, Reply};

/// A longer body is evaluated on a thread that may take its time.
const LONG: usize = 64 << 10;

/// The path, if it is one of the component's.
pub(super) fn pattern(path: &str) -> &'static str {
    routes::find(path).map_or("other", |route| route.path)
}

/// Hands a request to the component. It is shown what it needs, and not who asked.
pub(super) async fn answer(shared: &Arc<Shared>, asked: Asked) -> Result<Reply, Problem> {
    let is_long = asked.body.len() > LONG;
    let request = request(asked)?;
    let answered = if is_long {
        let (gate, runtime) = (Arc::clone(&shared.http), tokio::runtime::Handle::current());
        let evaluate = move || runtime.block_on(gate.answer(request));
        tokio::task::spawn_blocking(evaluate)
            .await
            .map_err(|error| Problem::internal(error.to_string()))?
    } else {
        shared.http.answer(request).await
    };
    let answered = answered.map_err(|error| Problem::internal(error.to_string()))?;
    Ok(answered.map(Content::whole))
}

fn request(asked: Asked) -> Result<Request<Bytes>, Problem> {
    let mut request = Request::builder()
        .method(asked.method)
        .uri(asked.path)
        .header(header::HOST, "localhost")
        .header(header::CONTENT_LENGTH, asked.body.len());
    if let Some(kind) = asked.headers.get(header::CONTENT_TYPE) {
        request = request.header(header::CONTENT_TYPE, kind);
    }
    request
        .body(asked.body)
        .map_err(|error| Problem::internal(error.to_string()))
}
