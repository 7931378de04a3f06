//! What is answered: a text that is there as a whole, or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc;

/// An answer.
pub(super) type Reply = Response<Content>;

/// What an answer consists of.
#[derive(Debug)]
pub(super) enum Content {
    /// All of it; none once it was taken.
    Whole(Option<Bytes>),
    /// One piece after the other, as they come.
    Stream(mpsc::Receiver<Bytes>),
}

impl Content {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }

    /// How many bytes it has, if that is known.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Whole(bytes) => Some(bytes.as_ref().map_or(0, Bytes::len)),
            Self::Stream(_) => None,
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(pieces) => pieces
                .poll_recv(context)
                .map(|piece| piece.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        self.len().map_or_else(SizeHint::default, |len| {
            SizeHint::with_exact(len.try_into().unwrap_or(u64::MAX))
        })
    }
}

pub(super) const JSON: &str = "application/json";
pub(super) const PROBLEM: &str = "application/problem+json";
const EVENTS: &str = "text/event-stream";

/// A text with its kind.
pub(super) fn text(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Content::whole(text));
    *reply.status_mut() = status;
    set(&mut reply, header::CONTENT_TYPE, kind);
    reply
}

/// JSON that is right.
pub(super) fn json(value: &serde_json::Value) -> Reply {
    text(StatusCode::OK, JSON, value.to_string())
}

/// Events as they come. Nobody in between may keep them back.
pub(super) fn events(pieces: mpsc::Receiver<Bytes>) -> Reply {
    let mut reply = Response::new(Content::Stream(pieces));
    set(&mut reply, header::CONTENT_TYPE, EVENTS);
    set(&mut reply, header::CACHE_CONTROL, "no-store");
    set(
        &mut reply,
        HeaderName::from_static("x-accel-buffering"),
        "no",
    );
    reply
}

/// Sets a header to a text that is known to be one.
pub(super) fn set(reply: &mut Reply, name: HeaderName, value: &'static str) {
    reply
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
}

/// Sets a header, unless the text can't be one.
pub(super) fn set_text(reply: &mut Reply, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
}
