//! A client of HTTP that does what it is told, also what no good client does; and a server of ours to ask.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ralph_gate::engine::HttpGate;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Host;
use crate::binary::binary;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running `ralph-gate serve`.
#[derive(Debug)]
pub struct Served {
    /// Where it listens.
    pub address: SocketAddr,
    /// The process.
    pub process: Child,
}

impl Served {
    /// Starts the command with further arguments, and waits until it listens.
    pub fn start(mut command: Command, arguments: &[&str]) -> Result<Self> {
        let mut process = command
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = process.stdout.take().context("it has an output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        let address = said["address"].as_str().with_context(|| line.clone())?;
        Ok(Self {
            address: address.parse()?,
            process,
        })
    }

    /// A connection to it.
    pub fn connect(&self) -> Result<Connection> {
        Connection::to(self.address)
    }

    /// Asks it to end, and waits for that.
    pub fn end(&mut self) -> Result<std::process::ExitStatus> {
        let process = i32::try_from(self.process.id())
            .ok()
            .and_then(Pid::from_raw);
        kill_process(process.context("it has a number")?, Signal::TERM)?;
        Ok(self.process.wait()?)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection that is kept open.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// All of the body; empty for a stream, which is read piece by piece.
    pub body: String,
}

impl Answer {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// The code of a problem, if it is one.
    pub fn json_code(&self) -> Option<String> {
        let problem: Value = serde_json::from_str(&self.body).ok()?;
        problem["code"].as_str().map(str::to_owned)
    }

    /// The body as JSON.
    ///
    /// # Panics
    ///
    /// If it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Connection {
    /// A connection to an address.
    pub fn to(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: address,
        })
    }

    /// The bytes themselves.
    pub fn raw(&mut self) -> &mut TcpStream {
        self.stream.get_mut()
    }

    /// Sends JSON, and waits for the answer.
    pub fn post(&mut self, path: &str, body: &str) -> Result<Answer> {
        self.send(
            "POST",
            path,
            &[("content-type", "application/json")],
            body.as_bytes(),
        )
    }

    /// Asks for a path.
    pub fn get(&mut self, path: &str) -> Result<Answer> {
        self.send("GET", path, &[], b"")
    }

    /// Sends a request, and waits for the answer.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer> {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            let _ = write!(head, "host: {}\r\n", self.host);
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
        let request = [head.as_bytes(), body].concat();
        self.raw().write_all(&request)?;
        self.answer(method == "HEAD")
    }

    /// Reads an answer.
    pub fn answer(&mut self, is_head: bool) -> Result<Answer> {
        let line = self.line()?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("no status in {line:?}"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').context("a header has a colon")?;
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer {
            status,
            headers,
            body: String::new(),
        };
        let is_stream = answer.header("content-type") == Some("text/event-stream");
        if !is_head && !is_stream {
            let length = answer.header("content-length").unwrap_or("0").parse()?;
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body)?;
            answer.body = String::from_utf8(body)?;
        }
        Ok(answer)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            bail!("the server closed the connection");
        }
        Ok(line.trim_end().to_owned())
    }

    /// The next event of a stream: its name and data. None at the end.
    pub fn event(&mut self) -> Result<Option<(String, Value)>> {
        loop {
            let Some(piece) = self.chunk()? else {
                return Ok(None);
            };
            let field = |name: &str| {
                let mut lines = piece.lines();
                lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
            };
            if let (Some(name), Some(data)) = (field("event: "), field("data: ")) {
                return Ok(Some((name, serde_json::from_str(&data)?)));
            }
        }
    }

    /// The rest of a stream.
    pub fn events(&mut self) -> Result<Vec<(String, Value)>> {
        let mut events = Vec::new();
        while let Some(event) = self.event()? {
            events.push(event);
        }
        Ok(events)
    }

    /// One piece of a body that comes in pieces. Each of ours holds one event.
    fn chunk(&mut self) -> Result<Option<String>> {
        let length = usize::from_str_radix(&self.line()?, 16)?;
        let mut piece = vec![0; length + 2];
        self.stream.read_exact(&mut piece)?;
        piece.truncate(length);
        Ok((length > 0).then_some(String::from_utf8(piece)?))
    }
}

/// The gate over HTTP, asked like every other host.
#[derive(Debug)]
pub struct OverHttp {
    name: &'static str,
    connection: Connection,
    /// Lives as long as it is asked.
    _server: Box<dyn fmt::Debug>,
}

impl OverHttp {
    /// Asks `ralph-gate serve`.
    pub fn serve() -> Result<Self> {
        let server = Served::start(Command::new(binary()), &["--no-access-log"])?;
        Ok(Self {
            name: "http",
            connection: server.connect()?,
            _server: Box::new(server),
        })
    }

    /// Asks the component in a `wasmtime serve` that knows nothing of it.
    pub fn wasmtime(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let component = folder.path().join("gate.wasm");
        fs::write(&component, HttpGate::component())?;
        let mut process = Command::new(program)
            .args(["serve", "--addr", "127.0.0.1:0"])
            .arg(&component)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| {
                let program = program.display();
                format!("{program} can't be started; `cargo xtask test --all` installs it")
            })?;
        let mut lines = BufReader::new(process.stderr.take().context("it has one")?).lines();
        let address = lines.find_map(|line| {
            let (_, address) = line
                .ok()?
                .split_once("http://")
                .map(|(before, after)| (before.to_owned(), after.to_owned()))?;
            address.trim_end_matches('/').parse().ok()
        });
        let address = address.context("wasmtime did not say where it listens")?;
        let server = Served { address, process };
        Ok(Self {
            name: "wasmtime-serve",
            connection: server.connect()?,
            _server: Box::new((server, folder, lines)),
        })
    }
}

impl Host for OverHttp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn call(&mut self, function: &str, input: &str) -> Result<String> {
        let path = ralph_gate_http::routes::path_of(function);
        let answer = self.connection.post(&path, input)?;
        if answer.status == 200 {
            return Ok(answer.body);
        }
        // What the gate said is in there, byte for byte, as the last field.
        let (_, error) = answer
            .body
            .split_once(r#","error":"#)
            .with_context(|| format!("{}: {}", answer.status, answer.body))?;
        Ok(format!(r#"{{"error":{error}"#))
    }
}
