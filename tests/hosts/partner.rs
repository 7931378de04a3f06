//! A host that is not Rust: a process that answers calls, as `fuzz-partner answer` does.

use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use ralph_gate_tests::Host;

/// The process, and the pipes to it.
pub(crate) struct Partner {
    name: &'static str,
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Partner {
    /// Starts `program script`. `remedy` is the command that builds what is missing.
    pub(crate) fn start(
        name: &'static str,
        program: impl AsRef<Path>,
        script: &Path,
        remedy: &str,
    ) -> Result<Box<dyn Host>> {
        let program = program.as_ref();
        if !script.is_file() {
            bail!("{} is not there; `{remedy}` builds it", script.display());
        }
        let mut process = Command::new(program)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| {
                format!(
                    "{} can't be started; `{remedy}` says what is missing",
                    program.display()
                )
            })?;
        let to = process.stdin.take();
        let from = process.stdout.take().context("it has no output")?;
        Ok(Box::new(Self {
            name,
            process,
            to,
            from: BufReader::new(from),
        }))
    }

    fn send(&mut self, texts: [&str; 2]) -> Result<()> {
        let to = self.to.as_mut().context("it has no input")?;
        for text in texts {
            to.write_all(&u32::try_from(text.len())?.to_le_bytes())?;
            to.write_all(text.as_bytes())?;
        }
        Ok(to.flush()?)
    }

    fn receive(&mut self) -> Result<(u8, String)> {
        let mut head = [0; 5];
        self.from.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let mut bytes = vec![0; usize::try_from(u32::from_le_bytes(length))?];
        self.from.read_exact(&mut bytes)?;
        Ok((kind, String::from_utf8(bytes)?))
    }
}

impl Host for Partner {
    fn name(&self) -> &'static str {
        self.name
    }

    fn call(&mut self, function: &str, input: &str) -> Result<String> {
        let answer = self
            .send([function, input])
            .and_then(|()| self.receive())
            .context("it does not answer; what it said is above")?;
        match answer {
            (0, text) => Ok(text),
            (_, reason) => bail!("it could not call `{function}`: {reason}"),
        }
    }
}

impl Drop for Partner {
    /// It ends when its input does.
    fn drop(&mut self) {
        self.to = None;
        let _ = self.process.wait();
    }
}
