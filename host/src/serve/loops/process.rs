//! The process that runs a loop: `ralph-gate run`, which ends with this server, however that ends.

use std::process::Stdio;
use std::sync::Arc;

use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use super::super::Shared;
use super::super::problem::Problem;
use super::feed::Feed;
use super::tell::{Told, named, told};
use super::{Loops, Resumption, Seat};
use crate::engine::Mode;
use crate::memory::SessionKey;

/// The longest line that is read, in bytes. A longer one ends the reading, and the loop goes on unheard.
const LONGEST: u64 = 16 << 20;
/// The longest key that is handed over as an argument, in bytes.
const LONGEST_KEY: usize = 16 << 10;
/// How much is kept of what a loop says on standard error.
const LAST_WORDS: usize = 4096;
/// How much of an agent's output is one event.
const PIECE: usize = 8192;

/// What is to be run.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) key: SessionKey,
    pub(super) mode: Mode,
    /// The digest of the contract, where that is known.
    pub(super) contract: Option<String>,
    pub(super) prompt: Option<String>,
    pub(super) resume: Option<Resumption>,
}

/// What became of the attempt to begin.
pub(super) enum Begun {
    /// It runs, and its feed tells.
    Running,
    /// It did not begin.
    Refused(Problem),
}

/// Runs a loop to its end, and gives back as soon as it has begun.
pub(super) async fn run(shared: Arc<Shared>, start: Start, seat: Seat) -> Result<Begun, Problem> {
    let child = command(&shared, &seat.loops, &start).spawn();
    let mut child =
        child.map_err(|error| Problem::internal(format!("the loop can't be started: {error}")))?;
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let teller = Teller {
        feed: Arc::clone(&seat.feed),
        begun: Some(begun),
        stopped: None,
    };
    let stdout = child.stdout.take();
    let attended = tokio::spawn(async move {
        let _counted = shared.metrics.loops.enter();
        let reason = attend(child, stdout, start.mode, teller).await;
        shared.metrics.stopped(&reason);
        drop(seat);
    });
    let begun = has_begun.await;
    let begun =
        begun.unwrap_or_else(|_| Begun::Refused(Problem::internal("the loop said nothing")));
    if let Begun::Refused(_) = begun {
        // Whoever hears of it may try again at once: the seat is free by then.
        let _ = attended.await;
    }
    Ok(begun)
}

/// The command line of a loop. Nothing of a request gets into it but the key, behind the name of its flag.
fn command(shared: &Shared, loops: &Loops, start: &Start) -> Command {
    let mut command = Command::new(&shared.program);
    command
        .args([
            "run",
            "--owner",
            &std::process::id().to_string(),
            "--config",
        ])
        .arg(&loops.config.file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .current_dir(&loops.config.workspace)
        .kill_on_drop(true);
    if start.mode == Mode::Ralph {
        command.args(["--json", "--plain"]);
        // What can't be an argument is named by its request.
        if is_argument(start.key.text()) {
            command.arg(format!("--session={}", start.key.text()));
            if let SessionKey::Draft(_) = start.key {
                command.arg("--draft");
            }
        }
        let file = loops.request_file(&start.key);
        if file.is_file() {
            command.arg("--request").arg(file);
        }
    }
    // An agent may have changed the files meanwhile: what was asked for is what is run.
    if start.resume.is_none() {
        command.arg(format!("--expect-config={}", loops.config.text_digest()));
    }
    if let Some(contract) = &start.contract {
        command.arg(format!("--expect-contract={contract}"));
    }
    if let Some(prompt) = &start.prompt {
        command.arg(format!("--prompt={prompt}"));
    }
    if let Some(resumption) = &start.resume {
        command.arg("--resume");
        let operator = resumption.operator.as_deref().unwrap_or("http");
        command.arg(format!("--operator={operator}"));
        if let Some(reason) = &resumption.reason {
            command.arg(format!("--reason={reason}"));
        }
        if resumption.accept_contract {
            command.arg("--accept-contract");
        }
    }
    command
}

/// Whether a text can be handed to a process as an argument.
pub(super) fn is_argument(text: &str) -> bool {
    text.len() <= LONGEST_KEY && !text.contains('\0')
}

/// Hands on what a loop says.
struct Teller {
    feed: Arc<Feed>,
    /// Somebody waits to hear whether it has begun.
    begun: Option<tokio::sync::oneshot::Sender<Begun>>,
    /// Why it stopped, once it said so.
    stopped: Option<String>,
}

impl Teller {
    fn tell(&mut self, told: &Told) {
        if told.name == "stopped" {
            let reason = told.data.get("stop_reason").and_then(Value::as_str);
            self.stopped = Some(reason.unwrap_or("passed_through").to_owned());
        }
        self.feed.tell(told.name, &told.data);
        self.answer(Begun::Running);
    }

    fn answer(&mut self, begun: Begun) {
        if let Some(waiting) = self.begun.take() {
            // Whoever waited may be gone; the loop is not.
            let _ = waiting.send(begun);
        }
    }
}

/// Hears a loop out. Gives the reason why it stopped.
async fn attend(
    mut child: Child,
    stdout: Option<ChildStdout>,
    mode: Mode,
    mut teller: Teller,
) -> String {
    let stderr = child.stderr.take();
    let last_words = tokio::spawn(async move { end_of(stderr).await });
    let refusal = match (stdout, mode) {
        (Some(stdout), Mode::Ralph) => lines(stdout, &mut teller).await,
        (Some(stdout), _) => {
            pass_through(stdout, &mut teller).await;
            None
        }
        (None, _) => None,
    };
    let code = child.wait().await.ok().and_then(|status| status.code());
    let last_words = last_words.await.unwrap_or_default();
    if let Some(reason) = teller.stopped {
        return reason;
    }
    if mode == Mode::Ralph {
        let problem = refusal.unwrap_or_else(|| ended(code, &last_words));
        if teller.begun.is_some() {
            teller.answer(Begun::Refused(problem));
            return "refused".to_owned();
        }
        let data = json!({ "stop_reason": "error", "exit": code, "detail": last_words });
        teller.tell(&named("stopped", data));
        return "error".to_owned();
    }
    let data = json!({ "stop_reason": null, "exit": code, "mode": "standard" });
    teller.tell(&named("stopped", data));
    "passed_through".to_owned()
}

fn ended(code: Option<i32>, last_words: &str) -> Problem {
    let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
    let detail = format!("the loop ended with {code} before it began: {last_words}");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "loop_ended", detail)
}

/// Tells each line. Gives the problem, if the loop says that it can't begin.
async fn lines(stdout: ChildStdout, teller: &mut Teller) -> Option<Problem> {
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    let mut refusal = None;
    loop {
        line.clear();
        let read = (&mut stdout).take(LONGEST).read_line(&mut line).await;
        if !matches!(read, Ok(read) if read > 0) {
            return refusal;
        }
        let events = told(&line);
        if events.is_empty() {
            refusal = refused(&line).or(refusal);
        }
        for event in events {
            teller.tell(&event);
        }
    }
}

/// An error in the form that all errors have.
fn refused(line: &str) -> Option<Problem> {
    let said: Value = serde_json::from_str(line).ok()?;
    let error = said.get("error")?;
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    Some(Problem::by_code(text("code")?, text("message")?).with("error", error.clone()))
}

/// The agent's own output, as it comes.
async fn pass_through(mut stdout: ChildStdout, teller: &mut Teller) {
    let mut piece = vec![0; PIECE];
    let mut rest = Vec::new();
    while let Ok(read) = stdout.read(&mut piece).await {
        if read == 0 {
            break;
        }
        rest.extend_from_slice(piece.get(..read).unwrap_or_default());
        let text = take_text(&mut rest);
        if !text.is_empty() {
            let data = json!({ "text": text });
            teller.tell(&named("output", data));
        }
    }
    if !rest.is_empty() {
        let data = json!({ "text": String::from_utf8_lossy(&rest) });
        teller.tell(&named("output", data));
    }
}

/// What is whole of a text: a character that is cut in two waits for its rest.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let is_cut = |error: &std::str::Utf8Error| error.error_len().is_none();
    let end = match std::str::from_utf8(bytes) {
        Err(error) if is_cut(&error) => error.valid_up_to(),
        _ => bytes.len(),
    };
    let rest = bytes.split_off(end);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}

/// The end of what is said, within bounds.
async fn end_of(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else {
        return String::new();
    };
    let mut kept: Vec<u8> = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(read) = stream.read(&mut piece).await {
        if read == 0 {
            break;
        }
        kept.extend_from_slice(piece.get(..read).unwrap_or_default());
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_stays_one() {
        let mut bytes = "abc\u{e9}".as_bytes()[..4].to_vec();
        assert_eq!(take_text(&mut bytes), "abc");
        bytes.push(0xa9);
        assert_eq!(take_text(&mut bytes), "\u{e9}");
        let mut broken = b"a\xffb".to_vec();
        assert_eq!(take_text(&mut broken), "a\u{fffd}b");
    }

    #[test]
    fn an_error_of_the_command_becomes_a_problem() {
        let line =
            r#"{"error":{"code":"session_exists","message":"the session holds a loop already"}}"#;
        let problem = refused(line).unwrap().reply();
        assert_eq!(problem.status(), 409);
        assert!(refused("{}").is_none());
    }
}
