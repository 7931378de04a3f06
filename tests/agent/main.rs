//! `scripted-agent SCRIPT`: an agent that does what a script says, iteration by iteration.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use ralph_gate_tests::agent_script::{Keeps, MARK, Script, Step};
use serde_json::json;

/// The argument in front of the steps of a process that leaves its parent.
const LEAVING: &str = "--leaving";
/// The argument in front of the steps of a process that has left.
const DETACHED: &str = "--detached";
/// The argument in front of a process's parent and of what is printed once it has ended.
const OUTLIVING: &str = "--outliving";
/// Nothing is waited for longer: a test that failed must not leave processes behind for ever.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The exit code of an agent that could not play its script; no script ends with it.
const BROKEN: u8 = 99;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("scripted-agent: {error:#}");
            ExitCode::from(BROKEN)
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut player = Player::from_environment();
    match arguments.as_slice() {
        [word, steps] if word == LEAVING => {
            rustix::process::setsid()?;
            again(DETACHED, steps).spawn()?;
            Ok(ExitCode::SUCCESS)
        }
        [word, steps] if word == DETACHED => player.play(&serde_json::from_str::<Vec<_>>(steps)?),
        [word, parent, text] if word == OUTLIVING => {
            outlive(parent.parse()?)?;
            print(text)?;
            Ok(ExitCode::SUCCESS)
        }
        // A client's own arguments may follow the script.
        [script, ..] => {
            let text = fs::read_to_string(script).with_context(|| format!("no script {script}"))?;
            let script: Script = serde_json::from_str(&text)?;
            let turn = player.turn(&script)?;
            player.play(turn)
        }
        [] => bail!("the script is missing"),
    }
}

/// This program once more, with nothing of its input and output.
fn again(word: &str, steps: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("helper")
        .args([word, steps])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Who plays the steps.
struct Player {
    iteration: usize,
    memory: String,
}

impl Player {
    fn from_environment() -> Self {
        let variable = |name| std::env::var(name).unwrap_or_default();
        Self {
            // In standard mode there are no iterations.
            iteration: variable("RALPH_GATE_ITERATION").parse().unwrap_or(1),
            memory: variable("RALPH_GATE_MEMORY"),
        }
    }

    fn turn<'s>(&self, script: &'s Script) -> Result<&'s [Step]> {
        let turn = script.turns.get(self.iteration.saturating_sub(1));
        let turn = turn
            .or(script.turns.last())
            .context("the script is empty")?;
        Ok(turn)
    }

    fn play(&mut self, steps: &[Step]) -> Result<ExitCode> {
        for step in steps {
            if let Step::Exit(code) = step {
                return Ok(ExitCode::from(u8::try_from(*code)?));
            }
            self.step(step).with_context(|| format!("{step:?}"))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Print(text) => print(&self.fill(text)),
            Step::Complain(text) => Ok(io::stderr().write_all(self.fill(text).as_bytes())?),
            Step::PrintAfterTheEnd(text) => print_after_the_end(&self.fill(text)),
            Step::EchoPrompt => print(&io::read_to_string(io::stdin())?),
            Step::Claude {
                answer,
                cost_usd,
                tool_calls,
            } => print(&claude(&self.fill(answer), cost_usd, *tool_calls)?),
            Step::Write { path, text } => write(&self.path(path), &self.fill(text)),
            Step::Append { path, text } => append(&self.path(path), &self.fill(text)),
            Step::Replace { path, from, to } => replace(&self.path(path), from, to),
            Step::Corrupt(folder) => corrupt(&self.path(folder)),
            Step::Delete(path) => delete(&self.path(path)),
            Step::Commit => commit(),
            Step::WaitFor(path) => wait_for(&self.path(path)),
            Step::Hang => {
                std::thread::sleep(PATIENCE);
                bail!("nobody killed it")
            }
            Step::Detach { steps, environment } => detach(steps, *environment),
            Step::Run { argv, into } => run_program(argv, &self.path(into)),
            Step::Exit(_) => Ok(()),
        }
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{iteration}", &self.iteration.to_string())
            .replace("{memory}", &self.memory)
    }

    fn path(&self, path: &Path) -> PathBuf {
        self.fill(&path.to_string_lossy()).into()
    }
}

fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}

/// The lines of one turn: tools, then the result.
fn claude(answer: &str, cost_usd: &str, tool_calls: u32) -> Result<String> {
    let session = "00000000-0000-4000-8000-000000000001";
    let mut text = String::new();
    for call in 1..=tool_calls {
        let tool = json!({
            "type": "tool_use", "id": format!("toolu_{call}"), "name": "Bash", "input": { "command": "true" },
        });
        let message = json!({
            "type": "assistant", "message": { "id": "msg_1", "role": "assistant", "content": [tool] },
            "parent_tool_use_id": null, "session_id": session,
        });
        text.push_str(&format!("{message}\n"));
    }
    let cost: serde_json::Number = serde_json::from_str(cost_usd)?;
    let used = json!({
        "inputTokens": 10, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "outputTokens": 5, "costUSD": cost,
    });
    let result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": answer, "session_id": session,
        "total_cost_usd": cost, "usage": { "input_tokens": 10, "output_tokens": 5 },
        "modelUsage": { "a-model": used }, "model_usage_since_last_result": { "a-model": used },
    });
    text.push_str(&format!("{result}\n"));
    Ok(text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}

fn append(path: &Path, text: &str) -> Result<()> {
    let mut file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}

fn replace(path: &Path, from: &str, to: &str) -> Result<()> {
    let text = fs::read_to_string(path)?;
    ensure!(text.contains(from), "{} has no {from}", path.display());
    Ok(fs::write(path, text.replace(from, to))?)
}

fn corrupt(folder: &Path) -> Result<()> {
    let mut files = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let mut bytes = Vec::new();
        fs::File::open(&path)?.read_to_end(&mut bytes)?;
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte = byte.wrapping_add(1);
            files += 1;
        }
        fs::write(&path, bytes)?;
    }
    ensure!(files > 0, "{} holds nothing", folder.display());
    Ok(())
}

fn delete(path: &Path) -> Result<()> {
    let deleted = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
    Ok(deleted?)
}

fn commit() -> Result<()> {
    for arguments in [
        &["add", "--all"][..],
        &["commit", "--quiet", "--message", "work"],
    ] {
        let status = Command::new("git").args(arguments).status()?;
        ensure!(status.success(), "git {arguments:?}: {status}");
    }
    Ok(())
}

fn wait_for(path: &Path) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    while !path.exists() {
        ensure!(Instant::now() < until, "it did not come");
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// Two processes deep, in a session of its own: when the first is gone, nothing ties the second to this one.
fn detach(steps: &[Step], environment: Keeps) -> Result<()> {
    let mut command = again(LEAVING, &serde_json::to_string(steps)?);
    if environment == Keeps::OnlyTheMark {
        let mark = std::env::var_os(MARK).context("there is no mark")?;
        command.env_clear().env(MARK, mark);
    }
    let status = command.status()?;
    ensure!(status.success(), "it could not leave: {status}");
    Ok(())
}

fn print_after_the_end(text: &str) -> Result<()> {
    let own = std::process::id().to_string();
    Command::new("/proc/self/exe")
        .args([OUTLIVING, &own, text])
        .stdin(Stdio::null())
        .spawn()?;
    Ok(())
}

/// Waits until another process is this one's parent.
fn outlive(parent: u32) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    while std::os::unix::process::parent_id() == parent {
        ensure!(Instant::now() < until, "it did not end");
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

fn run_program(argv: &[String], into: &Path) -> Result<()> {
    let (program, arguments) = argv.split_first().context("no program")?;
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()?;
    let text = format!(
        "{}\n{}{}",
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    // Whoever waits for the file reads it as soon as it is there.
    let new = into.with_extension("new");
    write(&new, &text)?;
    Ok(fs::rename(new, into)?)
}
