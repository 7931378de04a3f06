//! Child processes: run one, capture one, watch one.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context as _, Result, bail};

/// Runs it with this program's input and output. An exit status other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| not_started(command))?;
    check(command, status)
}

/// Runs it and gives back what it printed; its errors go to the terminal.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| not_started(command))?;
    check(command, output.status)?;
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no text", line(command)))
}

/// Runs it and gives back what it printed, while something else reads its errors.
pub(crate) fn capture_beside(
    command: &mut Command,
    read: impl FnOnce(ChildStderr) + Send,
) -> Result<String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| not_started(command))?;
    let errors = child.stderr.take();
    let output = thread::scope(|scope| {
        scope.spawn(|| errors.map(read));
        child.wait_with_output()
    });
    let output = output.with_context(|| format!("`{}` was lost", line(command)))?;
    check(command, output.status)?;
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no text", line(command)))
}

/// Whether it can be started and succeeds. Nothing is shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs it, shows everything line by line as it comes, and gives back the lines of both streams.
pub(crate) fn watch(command: &mut Command) -> Result<(ExitStatus, Vec<String>)> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| not_started(command))?;
    let lines = Mutex::new(Vec::new());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(|| echo(out, &lines));
        scope.spawn(|| echo(err, &lines));
    });
    let status = child
        .wait()
        .with_context(|| format!("`{}` was lost", line(command)))?;
    let lines = lines
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok((status, lines))
}

fn echo(stream: Option<impl Read>, lines: &Mutex<Vec<String>>) {
    let Some(stream) = stream else { return };
    let mut reader = BufReader::new(stream);
    let mut bytes = Vec::new();
    // A read error ends the stream like its end does: the exit status then tells.
    while matches!(reader.read_until(b'\n', &mut bytes), Ok(count) if count > 0) {
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        let mut lines = lines
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = writeln!(std::io::stdout(), "{text}");
        lines.push(text);
        bytes.clear();
    }
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` failed with {status}", line(command));
    }
    Ok(())
}

fn not_started(command: &Command) -> String {
    format!(
        "`{}` can't be started; is {} installed?",
        line(command),
        command.get_program().to_string_lossy()
    )
}

/// The command line as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("ralph-gate-no-such-program")).unwrap_err();
        assert!(format!("{error:#}").contains("is ralph-gate-no-such-program installed?"));
    }

    #[test]
    fn a_failing_program_is_named_with_its_status() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        let text = format!("{error:#}");
        assert!(
            text.contains("`sh -c exit 3` failed") && text.contains('3'),
            "{text}"
        );
    }

    #[test]
    fn watching_collects_both_streams_and_the_status() {
        let (status, mut lines) =
            watch(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 4"])).unwrap();
        lines.sort();
        assert_eq!(lines, ["err", "out"]);
        assert_eq!(status.code(), Some(4));
    }
}
