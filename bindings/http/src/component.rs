//! The component: requests of wasi:http in, responses out. Marshalling only.

use std::borrow::Cow;

use crate::answer::{BodyError, MAX_BODY, Request, Response, answer};

#[allow(
    unsafe_code,
    unused_qualifications,
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated from the WIT"
)]
mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "http-gate",
        generate_all,
        pub_export_macro: false,
    });
    use super::Component;
    export!(Component);
}

use bindings::exports::wasi::http::incoming_handler::Guest;
use bindings::wasi::http::types::{
    Fields, IncomingRequest, Method, OutgoingBody, OutgoingResponse, ResponseOutparam,
};
use bindings::wasi::io::streams::{OutputStream, StreamError};

/// How many bytes of a body are asked for at once.
const CHUNK: u64 = 64 << 10;

struct Component;

impl Guest for Component {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        // All at once: every question to the host costs more than a header.
        let headers = request.headers().entries();
        let method = method(request.method());
        let path = request.path_with_query().unwrap_or_default();
        let content_type = header(&headers, "content-type");
        let content_encoding = header(&headers, "content-encoding");
        let content_length = header(&headers, "content-length").and_then(|text| text.parse().ok());
        let head = Request {
            method: &method,
            path: &path,
            content_type: content_type.as_deref(),
            content_encoding: content_encoding.as_deref(),
            content_length,
        };
        send(answer(&head, || read(&request, content_length)), out);
    }
}

fn method(method: Method) -> String {
    let known = match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Delete => "DELETE",
        Method::Connect => "CONNECT",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Patch => "PATCH",
        Method::Other(name) => return name,
    };
    known.to_owned()
}

/// A header that stands there several times counts as one with commas, which no header that is looked at has.
fn header(headers: &[(String, Vec<u8>)], name: &str) -> Option<String> {
    let values = headers
        .iter()
        .filter(|(given, _)| given.eq_ignore_ascii_case(name))
        .map(|(_, value)| String::from_utf8_lossy(value));
    values
        .reduce(|all, value| all + ", " + value)
        .map(Cow::into_owned)
}

/// The body, as far as it may be read. One that is as long as it was said to be is not asked for its end.
fn read(request: &IncomingRequest, announced: Option<u64>) -> Result<Vec<u8>, BodyError> {
    let body = request.consume().map_err(|()| BodyError::Incomplete)?;
    let stream = body.stream().map_err(|()| BodyError::Incomplete)?;
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(CHUNK) {
            Ok(chunk) => bytes.extend_from_slice(&chunk),
            Err(StreamError::Closed) if announced.is_none_or(|announced| announced == 0) => {
                return Ok(bytes);
            }
            // What is whole was enough before.
            Err(StreamError::Closed) => return Err(BodyError::Incomplete),
            Err(StreamError::LastOperationFailed(_)) => return Err(BodyError::Incomplete),
        }
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if length > MAX_BODY {
            return Err(BodyError::TooLarge);
        }
        if announced == Some(length) {
            return Ok(bytes);
        }
    }
}

/// Whoever asked may be gone: nobody is left then who could be told of a failure.
fn send(response: Response, out: ResponseOutparam) {
    let headers = Fields::new();
    for (name, value) in response.headers {
        // Hosts hold the length against what is written, and for the head alone nothing is.
        if name != "content-length" || response.body.is_some() {
            let _ = headers.append(name, &value.into_bytes());
        }
    }
    let outgoing = OutgoingResponse::new(headers);
    let _ = outgoing.set_status_code(response.status);
    let body = outgoing.body();
    ResponseOutparam::set(out, Ok(outgoing));
    let Ok(body) = body else { return };
    if let Some(text) = response.body
        && let Ok(stream) = body.write()
    {
        let _ = write(&stream, text.as_bytes());
    }
    let _ = OutgoingBody::finish(body, None);
}

fn write(stream: &OutputStream, mut rest: &[u8]) -> Result<(), StreamError> {
    while !rest.is_empty() {
        let ready = usize::try_from(stream.check_write()?).unwrap_or(usize::MAX);
        if ready == 0 {
            stream.subscribe().block();
            continue;
        }
        let (now, later) = rest.split_at(ready.min(rest.len()));
        stream.write(now)?;
        rest = later;
    }
    stream.blocking_flush()
}
