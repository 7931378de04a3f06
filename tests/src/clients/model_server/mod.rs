//! A model that says what its script tells it, over the interfaces of Anthropic, of OpenAI and of Gemini, and keeps what
//! it was sent.

mod gemini;
mod messages;
mod responses;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::clients::http::{self, Answer, Content, Request};

/// A client that stops in the middle of a request must not keep a thread for ever.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the model says when its script is over.
pub const AFTER_SCRIPT: &str = "The script is over.";
/// What the model says to a request that is not part of the conversation.
const ASIDE: &str = "{}";

/// What the model does in one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// It answers with a text, without a tool: the client believes that it has finished.
    Say(String),
    /// It has the client run a command of the shell.
    Run(String),
    /// It says something and has the client run a command, all in one answer.
    SayAndRun {
        /// What it says.
        text: String,
        /// The command of the shell.
        command: String,
    },
    /// It has the client write a file with a tool made for that, where the client has one.
    Write {
        /// Where, from the work folder.
        path: String,
        /// What.
        text: String,
    },
}

impl Turn {
    /// A text answer.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    /// A text answer that goes on with a command of the shell.
    pub fn say_and_run(text: impl Into<String>, command: impl Into<String>) -> Self {
        Self::SayAndRun {
            text: text.into(),
            command: command.into(),
        }
    }

    /// A command of the shell.
    pub fn run(command: impl Into<String>) -> Self {
        Self::Run(command.into())
    }
}

/// What a request was to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It took the turn of this number, counted from zero.
    Turn(usize),
    /// It came when the script was over.
    AfterScript,
    /// It was not part of the conversation: a title, a summary, a count of tokens, a list of models.
    Aside,
    /// The server did not know what to do with it.
    Unknown,
}

/// A request the server received.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// What it was to the server.
    pub part: Part,
    /// `GET` or `POST`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The body. Null if it was not JSON.
    pub body: Value,
}

/// A model with a script. It ends with this value.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    turns: Vec<Turn>,
    received: Mutex<Vec<Received>>,
    over: AtomicBool,
}

/// What a request asks for, as its interface tells.
enum Asked {
    Conversation(Dialect),
    Aside(Answer),
    Unknown,
}

/// The interface a conversation is led in.
#[derive(Clone, Copy)]
enum Dialect {
    Gemini,
    Messages,
    Responses,
}

impl ModelServer {
    /// Starts a server on a free port of the loopback device.
    pub fn start(turns: impl IntoIterator<Item = Turn>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            turns: turns.into_iter().collect(),
            ..Shared::default()
        });
        let for_thread = Arc::clone(&shared);
        let listening = std::thread::spawn(move || listen(&listener, &for_thread));
        Ok(Self {
            address,
            shared,
            listening: Some(listening),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything received until now, in order.
    pub fn received(&self) -> Vec<Received> {
        self.shared.lock().clone()
    }

    /// What was received as part of the conversation until now, in order.
    pub fn conversation(&self) -> Vec<Value> {
        let received = self.shared.lock();
        let taken = received.iter().filter(|one| one.part.of_conversation());
        taken.map(|one| one.body.clone()).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the thread that listens. If nobody listens any more, there is nothing to wake.
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            listening.join().ok();
        }
    }
}

impl Part {
    fn of_conversation(self) -> bool {
        matches!(self, Self::Turn(_) | Self::AfterScript)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the request down and finds the answer. One lock for both, so that no two requests take the same turn.
    fn answer(&self, request: &Request) -> Answer {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let asked = asked(request, &body);
        let mut received = self.lock();
        let number = received
            .iter()
            .filter(|one| one.part.of_conversation())
            .count();
        let (part, answer) = match asked {
            Asked::Conversation(dialect) => self.turn(number, dialect, &body),
            Asked::Aside(answer) => (Part::Aside, answer),
            Asked::Unknown => (Part::Unknown, not_found()),
        };
        received.push(Received {
            part,
            method: request.method.clone(),
            target: request.target.clone(),
            body,
        });
        answer
    }

    fn turn(&self, number: usize, dialect: Dialect, body: &Value) -> (Part, Answer) {
        let last = Turn::say(AFTER_SCRIPT);
        let (part, turn) = match self.turns.get(number) {
            Some(turn) => (Part::Turn(number), turn),
            None => (Part::AfterScript, &last),
        };
        let events = match dialect {
            Dialect::Gemini => gemini::turn(number, turn),
            Dialect::Messages => messages::turn(number, turn),
            Dialect::Responses => responses::turn(number, turn, body),
        };
        (part, events)
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.over.load(Ordering::SeqCst) {
            return;
        }
        if let Ok(stream) = stream {
            let shared = Arc::clone(shared);
            // A connection that fails is the client's to report.
            std::thread::spawn(move || serve(stream, &shared).ok());
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = http::read(&mut stream)?;
    http::write(&mut stream, &shared.answer(&request))
}

fn asked(request: &Request, body: &Value) -> Asked {
    let path = request.target.split('?').next().unwrap_or_default();
    match (request.method.as_str(), path) {
        ("POST", "/v1/messages") => messages::asked(body),
        ("POST", "/v1/responses") => responses::asked(body),
        ("GET", "/v1/models") => Asked::Aside(json_answer(
            &json!({ "object": "list", "data": [], "models": [] }),
        )),
        ("POST", path) if path.starts_with("/v1beta/models/") => gemini::asked(path, body),
        _ => Asked::Unknown,
    }
}

fn not_found() -> Answer {
    let body = json!({ "error": { "code": 404, "message": "the scripted model does not know this", "status": "NOT_FOUND" } });
    Answer {
        status: 404,
        ..json_answer(&body)
    }
}

fn json_answer(body: &Value) -> Answer {
    Answer {
        status: 200,
        content: Content::Json,
        body: body.to_string(),
    }
}

/// Whether the client offers tools. Only the conversation itself does: titles, summaries and checks are asked without.
fn offers_tools(body: &Value) -> bool {
    let tools = body.get("tools").and_then(Value::as_array);
    tools.is_some_and(|tools| !tools.is_empty())
}

/// The text that ends a request of a conversation, in whichever interface: a prompt, or the reason of a block.
pub fn last_said(body: &Value) -> &str {
    let mut names = ["contents", "input", "messages"].into_iter();
    let messages = names.find_map(|name| body.get(name));
    let message = messages
        .and_then(Value::as_array)
        .and_then(|messages| messages.last());
    let parts = message.and_then(|message| message.get("parts").or_else(|| message.get("content")));
    let part = parts
        .and_then(Value::as_array)
        .and_then(|parts| parts.last());
    part.and_then(|part| part.get("text"))
        .and_then(Value::as_str)
        .unwrap_or_default()
}
