//! Collectors: one that decodes what it gets with the protobuf classes of the OpenTelemetry project, and some that are
//! of no use.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use ralph_gate_tests::python::python;
use ralph_gate_tests::waiting::wait_until;
use serde_json::Value;

/// A collector in a process of its own.
pub(crate) struct Collector {
    child: Child,
    port: u16,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("telemetry/collector.py");
        let mut child = Command::new(python("telemetry"))
            .arg(script)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().parse().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let request: Value = serde_json::from_str(&line).unwrap();
                seen.lock().unwrap().push(request);
            }
        });
        Self {
            child,
            port,
            requests,
        }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The requests of one kind, each of which could be decoded.
    pub(crate) fn requests(&self, path: &str) -> Vec<Value> {
        let requests = self.requests.lock().unwrap();
        for request in requests.iter() {
            assert_eq!(request.get("error"), None, "{request:#}");
            assert_eq!(request["unknown"], serde_json::json!([]), "{request:#}");
        }
        let of_path = requests.iter().filter(|it| it["path"] == path);
        of_path.cloned().collect()
    }

    /// Every span that came, in the order of their ids. An id may come once only.
    pub(crate) fn spans(&self) -> Vec<Value> {
        let requests = self.requests("/v1/traces").into_iter();
        let spans = requests.flat_map(|it| it["spans"].as_array().unwrap().clone());
        let mut spans: Vec<Value> = spans.collect();
        spans.sort_by_key(|it| it["id"].as_str().unwrap().to_owned());
        for pair in spans.windows(2) {
            assert_ne!(pair[0]["id"], pair[1]["id"], "sent twice: {pair:#?}");
        }
        spans
    }

    /// Waits until so many spans came.
    pub(crate) fn wait_for_spans(&self, count: usize) -> Vec<Value> {
        wait_until("the spans", || self.spans().len() >= count);
        self.spans()
    }

    /// Forgets what came.
    pub(crate) fn forget(&self) {
        self.requests.lock().unwrap().clear();
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a collector does that is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rogue {
    /// Nobody listens.
    Absent,
    /// Takes the connection, and nothing more.
    Deaf,
    /// Takes the request, and never answers.
    Silent,
    /// Answers byte by byte, and never comes to an end.
    Dripping,
    /// Hangs up at once.
    HangsUp,
    /// Answers with a status.
    Refuses(u16),
    /// Is no collector.
    Nonsense,
}

impl Rogue {
    pub(crate) const ALL: [Self; 8] = [
        Self::Absent,
        Self::Deaf,
        Self::Silent,
        Self::Dripping,
        Self::HangsUp,
        Self::Refuses(500),
        Self::Refuses(429),
        Self::Nonsense,
    ];

    /// Lets it listen, as long as the test runs. Gives its address.
    pub(crate) fn listen(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        if self == Self::Absent {
            return address;
        }
        thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                match self {
                    Self::HangsUp | Self::Absent => {}
                    Self::Deaf => kept.push(stream),
                    _ => drop(thread::spawn(move || self.answer(&mut stream))),
                }
            }
        });
        address
    }

    fn answer(self, stream: &mut TcpStream) {
        let mut some = [0; 4096];
        let _ = stream.read(&mut some);
        let _ = match self {
            Self::Refuses(status) => {
                write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n")
            }
            Self::Nonsense => write!(stream, "220 mail ready\r\n"),
            Self::Dripping => {
                while stream.write_all(b"H").is_ok() {
                    thread::yield_now();
                }
                Ok(())
            }
            // Until the other side is gone.
            _ => std::io::copy(stream, &mut std::io::sink()).map(|_| ()),
        };
        // What the other side still sends is taken, so that it sees the answer and not an abort.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = std::io::copy(stream, &mut std::io::sink());
    }
}
