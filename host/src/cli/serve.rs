//! `ralph-gate serve`: the gate and its loops over HTTP.

use std::path::Path;
use std::time::Duration;

use ralph_gate::process::{self, Interruption, Signals};
use ralph_gate::serve::{ServeError, ServeLimits, ServeOptions, Server, Shutdown};
use serde_json::json;

use super::Exit;
use super::args::ServeArgs;
use super::error::CliError;
use super::terminal::Terminal;

/// The longest file that is taken for a token, in bytes.
const LONGEST_TOKEN: usize = 4096;
/// The exit code of a process that was interrupted twice.
const INTERRUPTED: i32 = 130;

pub(crate) fn run(args: &ServeArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let signals = Signals::listen().map_err(ServeError::System)?;
    let program = std::env::current_exe().map_err(ServeError::System)?;
    let options = ServeOptions {
        token: args.token_file.as_deref().map(token).transpose()?,
        config: args.config.clone(),
        store: args.store.clone(),
        limits: ServeLimits {
            body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
            requests: args.max_requests.into(),
            connections: usize::try_from(args.max_connections).unwrap_or(usize::MAX),
            loops: args.max_loops.into(),
            grace: Duration::from_secs(args.grace.into()),
            ..ServeLimits::default()
        },
        access_log: !args.no_access_log,
        echo: args.echo,
        ..ServeOptions::new(args.listen, program)
    };
    let server = Server::bind(&options)?;
    let address = server.address();
    terminal.print_answer(
        &json!({ "event": "listening", "address": address, "process": std::process::id() })
            .to_string(),
        |_| format!("listening on http://{address}\n"),
    )?;
    let shutdown = Shutdown::new();
    end_with(signals, shutdown.clone());
    server.run(&shutdown)?;
    Ok(Exit::Success)
}

/// The first signal lets the server end, the second ends it at once.
fn end_with(signals: Signals, shutdown: Shutdown) {
    let wait = move || {
        for (count, signal) in signals.enumerate() {
            if count > 0 && signal != Interruption::Hangup {
                process::end_now(INTERRUPTED);
            }
            shutdown.begin();
        }
    };
    // Without it a signal has no effect, and the server can be killed.
    let _ = std::thread::Builder::new()
        .name("interrupts".into())
        .spawn(wait);
}

/// The token in a file, without the line's end.
fn token(file: &Path) -> Result<String, CliError> {
    let unreadable = |reason: String| CliError::Usage {
        message: format!("--token-file {} can't be used: {reason}", file.display()),
    };
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    if text.len() > LONGEST_TOKEN {
        return Err(unreadable(format!(
            "it has more than {LONGEST_TOKEN} bytes"
        )));
    }
    let token = text.trim();
    if token.contains(char::is_whitespace) {
        return Err(unreadable("a token is one word".to_owned()));
    }
    Ok(token.to_owned())
}
