//! As much of HTTP/1.1 as a scripted server needs: one request per connection, one answer.

use std::io::{self, Read, Write};

/// More than any client's headers.
const HEAD_LIMIT: usize = 64 << 10;
/// More than any conversation of a test.
const BODY_LIMIT: usize = 16 << 20;
const HEADERS: usize = 100;
const PIECE: usize = 16 << 10;

/// A request, with its whole body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// `GET`, `POST` and so on.
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    /// The body, without the coding of the transfer.
    pub(super) body: Vec<u8>,
}

/// How an answer's body is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A JSON document.
    Json,
    /// Server-sent events.
    Events,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// The status code.
    pub(super) status: u16,
    /// What the body is.
    pub(super) content: Content,
    /// The body.
    pub(super) body: String,
}

/// What the head of a request says about the rest.
struct Head {
    method: String,
    target: String,
    length: Length,
    /// Whether the client waits for leave to send the body.
    asks_first: bool,
    /// Where the body begins.
    end: usize,
}

enum Length {
    Known(usize),
    Chunked,
}

/// Reads one request.
pub(super) fn read(stream: &mut (impl Read + Write)) -> io::Result<Request> {
    let mut received = Vec::new();
    let head = loop {
        if let Some(head) = head(&received)? {
            break head;
        }
        if received.len() > HEAD_LIMIT {
            return Err(bad("the head of a request is too long"));
        }
        more(stream, &mut received)?;
    };
    if head.asks_first {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let rest = received.split_off(head.end);
    let body = match head.length {
        Length::Known(length) => known(stream, rest, length)?,
        Length::Chunked => chunked(stream, rest)?,
    };
    Ok(Request {
        method: head.method,
        target: head.target,
        body,
    })
}

/// Writes an answer, after which the connection ends.
pub(super) fn write(stream: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let kind = match answer.content {
        Content::Json => "application/json",
        Content::Events => "text/event-stream",
    };
    let head = format!(
        "HTTP/1.1 {} Scripted\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.status,
        answer.body.len(),
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(answer.body.as_bytes())?;
    stream.flush()
}

fn head(received: &[u8]) -> io::Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let end = match request.parse(received).map_err(io::Error::other)? {
        httparse::Status::Partial => return Ok(None),
        httparse::Status::Complete(end) => end,
    };
    let header = |name: &str| {
        let mut headers = request.headers.iter();
        let found = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(found.value).to_ascii_lowercase())
    };
    let length = match (header("transfer-encoding"), header("content-length")) {
        (Some(coding), _) if coding == "chunked" => Length::Chunked,
        (Some(_), _) => return Err(bad("the coding of a request is unknown")),
        (None, Some(length)) => Length::Known(length.trim().parse().map_err(io::Error::other)?),
        (None, None) => Length::Known(0),
    };
    Ok(Some(Head {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        asks_first: header("expect").is_some_and(|value| value == "100-continue"),
        length,
        end,
    }))
}

fn known(stream: &mut impl Read, mut body: Vec<u8>, length: usize) -> io::Result<Vec<u8>> {
    if length > BODY_LIMIT {
        return Err(bad("the body of a request is too long"));
    }
    while body.len() < length {
        more(stream, &mut body)?;
    }
    body.truncate(length);
    Ok(body)
}

fn chunked(stream: &mut impl Read, mut received: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let parsed = httparse::parse_chunk_size(&received);
        let Ok(parsed) = parsed else {
            return Err(bad("the size of a chunk is not a number"));
        };
        let httparse::Status::Complete((start, size)) = parsed else {
            more(stream, &mut received)?;
            continue;
        };
        let size = usize::try_from(size).map_err(io::Error::other)?;
        if size > BODY_LIMIT.saturating_sub(body.len()) {
            return Err(bad("the body of a request is too long"));
        }
        if size == 0 {
            return Ok(body);
        }
        // The chunk's own line break ends it.
        let end = start + size + 2;
        while received.len() < end {
            more(stream, &mut received)?;
        }
        body.extend_from_slice(received.get(start..start + size).unwrap_or_default());
        received.drain(..end);
    }
}

fn more(stream: &mut impl Read, into: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = [0; PIECE];
    let length = stream.read(&mut piece)?;
    if length == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    into.extend_from_slice(piece.get(..length).unwrap_or_default());
    Ok(())
}

fn bad(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that gives a few bytes at a time.
    struct Slow<'b> {
        input: &'b [u8],
        output: Vec<u8>,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(3).min(self.input.len());
            buffer[..length].copy_from_slice(&self.input[..length]);
            self.input = &self.input[length..];
            Ok(length)
        }
    }

    impl Write for Slow<'_> {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            self.output.write(buffer)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn request(input: &str) -> io::Result<Request> {
        let mut stream = Slow {
            input: input.as_bytes(),
            output: Vec::new(),
        };
        read(&mut stream)
    }

    #[test]
    fn a_body_of_known_length_is_read_whole() {
        let request =
            request("POST /v1?a=b HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloXXX").unwrap();
        assert_eq!(request.method, "POST");
        assert_eq!(request.target, "/v1?a=b");
        assert_eq!(request.body, b"hello");
    }

    #[test]
    fn the_chunks_of_a_body_are_joined() {
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let request = request(&format!("{head}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")).unwrap();
        assert_eq!(request.body, b"hello world");
    }

    #[test]
    fn a_body_beyond_the_limit_is_an_error() {
        let known = "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n";
        assert!(request(known).is_err());
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff0\r\n";
        assert!(request(chunked).is_err());
    }

    #[test]
    fn a_connection_that_ends_early_is_an_error() {
        assert!(request("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhell").is_err());
        assert!(request("POST / HT").is_err());
    }
}
