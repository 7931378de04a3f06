//! One POST over HTTP/1.1, with a deadline for all of it. No redirect, no proxy, no TLS: that is a collector's work.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// The most that is read of an answer.
const MOST: usize = 16 * 1024;
/// How long the rest of an answer is waited for when its status is known: closing before it is read would look like an
/// abort to the other side.
const REST: Duration = Duration::from_millis(100);

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// A name or an address, without the brackets that an IPv6 address has in a URL.
    host: String,
    port: u16,
    /// With what follows a question mark.
    path: String,
}

impl Target {
    /// Reads `http://host:port/path`. Gives what is wrong with it.
    pub(super) fn read(url: &str) -> Result<Self, &'static str> {
        let scheme = url.get(..7).filter(|it| it.eq_ignore_ascii_case("http://"));
        let rest = scheme.and_then(|_| url.get(7..));
        let rest = rest.ok_or("it does not begin with http://")?;
        if rest.contains(|it: char| !it.is_ascii_graphic()) {
            return Err("it has white space or letters that an address can't have");
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err("a user and password belong into OTEL_EXPORTER_OTLP_HEADERS");
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or("a `]` is missing")?;
                (host, port.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty() {
            return Err("it names no host");
        }
        let port = match port {
            None => 80,
            Some(port) => port
                .parse()
                .map_err(|_| "its port is no number below 65536")?,
        };
        Ok(Self {
            host: host.to_owned(),
            port,
            path: match path {
                path if path.starts_with('/') => path.to_owned(),
                query => format!("/{query}"),
            },
        })
    }

    fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority(), self.path)
    }
}

/// Why something was not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// Nobody could be reached, or nobody answered.
    #[error("{target} can't be reached: {reason}")]
    Unreachable {
        /// Who.
        target: String,
        /// Why.
        reason: String,
    },
    /// The time was up.
    #[error("{target} did not answer within {} ms", limit.as_millis())]
    TooSlow {
        /// Who.
        target: String,
        /// How much time there was.
        limit: Duration,
    },
    /// It was not wanted.
    #[error("{target} answered with status {status}")]
    Refused {
        /// Who.
        target: String,
        /// Why.
        status: u16,
    },
}

impl SendError {
    /// Whether it may be wanted later.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TooSlow { .. } => true,
            // As the specification of OTLP has it.
            Self::Refused { status, .. } => matches!(status, 429 | 502 | 503 | 504),
        }
    }
}

/// Sends a body. Gives back when the status is known, or the time is up.
pub(super) fn post(
    target: &Target,
    headers: &[(String, String)],
    body: &[u8],
    limit: Duration,
) -> Result<(), SendError> {
    let deadline = Instant::now() + limit;
    let status = ask(target, headers, body, deadline).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => SendError::TooSlow {
            target: target.to_string(),
            limit,
        },
        _ => SendError::Unreachable {
            target: target.to_string(),
            reason: error.to_string(),
        },
    })?;
    match status {
        200..=299 => Ok(()),
        status => Err(SendError::Refused {
            target: target.to_string(),
            status,
        }),
    }
}

fn ask(
    target: &Target,
    headers: &[(String, String)],
    body: &[u8],
    deadline: Instant,
) -> io::Result<u16> {
    let mut stream = connect(target, deadline)?;
    let mut head = format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: ralph-gate/{}\r\nContent-Type: application/x-protobuf\r\n\
         Content-Length: {}\r\nConnection: close\r\n",
        target.path,
        target.authority(),
        env!("CARGO_PKG_VERSION"),
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    write(&mut stream, head.as_bytes(), deadline)?;
    write(&mut stream, body, deadline)?;
    status(&mut stream, deadline)
}

fn connect(target: &Target, deadline: Instant) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "it has no address");
    for address in (target.host.as_str(), target.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(deadline)?) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Piece by piece, each with what is left of the time: a timeout of a socket begins anew with each of its calls.
fn write(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The status of an answer. What follows it is of no use.
fn status(stream: &mut TcpStream, deadline: Instant) -> io::Result<u16> {
    let mut answer = Vec::new();
    while !answer.contains(&b'\n') {
        if answer.len() >= MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if read(stream, &mut answer, deadline)? == 0 {
            break;
        }
    }
    let status = status_in(&answer);
    let rest = deadline.min(Instant::now() + REST);
    while answer.len() < MOST && matches!(read(stream, &mut answer, rest), Ok(1..)) {}
    status.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it does not speak HTTP"))
}

fn read(stream: &mut TcpStream, answer: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
    let mut piece = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(&mut piece) {
            Ok(count) => {
                answer.extend(piece.iter().take(count));
                return Ok(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `HTTP/1.1 200 OK`
fn status_in(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.strip_prefix("HTTP/1.")?;
    let status = line.split_ascii_whitespace().nth(1)?;
    status.parse().ok().filter(|it| (100..600).contains(it))
}

/// The time that is left.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_a_port_and_a_path() {
        let read = |url: &str| Target::read(url).map(|target| target.to_string());
        let good = [
            (
                "http://127.0.0.1:4318/v1/traces",
                "http://127.0.0.1:4318/v1/traces",
            ),
            ("HTTP://collector", "http://collector:80/"),
            ("http://[::1]:4318/x?y=z#w", "http://[::1]:4318/x?y=z"),
            ("http://[::1]", "http://[::1]:80/"),
            ("http://a?b", "http://a:80/?b"),
        ];
        for (url, expected) in good {
            assert_eq!(read(url).as_deref(), Ok(expected), "{url}");
        }
        let bad = [
            "",
            "a",
            "ftp://a",
            "http://",
            "http://:1",
            "http://a:x",
            "http://a:70000",
            "http://a b",
            "http://[::1",
            "http://u:p@a",
            "http://a/\r\nx: y",
            "http://ä",
        ];
        for url in bad {
            assert!(read(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_status_is_found_in_the_first_line_alone() {
        assert_eq!(status_in(b"HTTP/1.1 200 OK\r\n\r\n"), Some(200));
        assert_eq!(status_in(b"HTTP/1.0 503"), Some(503));
        for bad in [
            &b"HTTP/2 200"[..],
            b"",
            b"HTTP/1.1\n200",
            b"HTTP/1.1 abc",
            b"HTTP/1.1 20",
            b"\xff",
        ] {
            assert_eq!(status_in(bad), None, "{bad:?}");
        }
    }
}
