//! What a server is told when it is started.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::error::ServeError;

/// How a server is set up. The default is safe on a machine that others use, too.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where it listens. Beyond this machine only with a token.
    pub listen: SocketAddr,
    /// What a request must carry, as `Authorization: Bearer …`.
    pub token: Option<String>,
    /// The configuration whose agent and checks the loops run. Without one there are no loops.
    pub config: Option<PathBuf>,
    /// Where sessions are kept for harnesses that run their loops themselves: a folder, or the address of a bucket. Without
    /// one there are none.
    pub store: Option<String>,
    /// The program that runs a loop: this one.
    pub program: PathBuf,
    /// What a request may take.
    pub limits: ServeLimits,
    /// Whether each request is told on standard error.
    pub access_log: bool,
    /// Whether `/echo` answers with what it was sent: what the server takes without the gate.
    pub echo: bool,
}

/// What requests may take, each and all together.
#[derive(Debug, Clone, Copy)]
pub struct ServeLimits {
    /// Bytes of a body.
    pub body: usize,
    /// Requests that are answered at the same time.
    pub requests: usize,
    /// Connections that are open at the same time.
    pub connections: usize,
    /// Loops that run at the same time.
    pub loops: usize,
    /// How long the head of a request may take, which is also how long a connection may be idle.
    pub head: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long an answer may take, once the request is there.
    pub answer: Duration,
    /// How long a client may take nothing of an answer.
    pub stalled: Duration,
    /// How long requests and loops may take to end after the server was told to.
    pub grace: Duration,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            requests: 256,
            connections: 16_384,
            loops: 64,
            head: Duration::from_secs(15),
            body_time: Duration::from_secs(30),
            answer: Duration::from_mins(1),
            stalled: Duration::from_secs(30),
            grace: Duration::from_secs(30),
        }
    }
}

impl ServeOptions {
    /// The safe ones, for a program that runs loops.
    pub fn new(listen: SocketAddr, program: PathBuf) -> Self {
        Self {
            listen,
            token: None,
            config: None,
            store: None,
            program,
            limits: ServeLimits::default(),
            access_log: true,
            echo: false,
        }
    }

    /// Sees that nobody is let in who should not be.
    pub(super) fn check(&self) -> Result<(), ServeError> {
        if self.token.is_none() && !self.listen.ip().is_loopback() {
            return Err(ServeError::Open {
                listen: self.listen,
            });
        }
        match &self.token {
            Some(token) if token.len() < SHORTEST_TOKEN => Err(ServeError::ShortToken {
                observed: token.len(),
                limit: SHORTEST_TOKEN,
            }),
            _ => Ok(()),
        }
    }
}

/// A token that can't be guessed has at least so many bytes.
const SHORTEST_TOKEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn options(listen: &str, token: Option<&str>) -> ServeOptions {
        ServeOptions {
            token: token.map(str::to_owned),
            ..ServeOptions::new(listen.parse().unwrap(), PathBuf::from("ralph-gate"))
        }
    }

    #[test]
    fn beyond_this_machine_a_token_is_needed() {
        assert!(options("127.0.0.1:0", None).check().is_ok());
        assert!(options("[::1]:0", None).check().is_ok());
        for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
            let error = options(open, None).check().unwrap_err();
            assert!(error.to_string().contains("--token-file"), "{error}");
            assert!(options(open, Some("0123456789abcdef")).check().is_ok());
        }
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused() {
        let error = options("127.0.0.1:0", Some("secret")).check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the token has 6 bytes; at least 16 are needed, for example from `openssl rand -hex 32`"
        );
    }
}
