//! The component, or the host of policies, as a partner process: the host is built by the pinned toolchain, the fuzz
//! targets by nightly, so they talk through pipes. It is started once.

use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Names the program that answers, `fuzz-partner` of `tests/Cargo.toml`.
pub const PROGRAM: &str = "RALPH_GATE_FUZZ_PARTNER";

/// A running partner.
pub struct Partner {
    to: BufWriter<ChildStdin>,
    from: BufReader<ChildStdout>,
    _child: Child,
}

impl Partner {
    /// Starts the program that the environment names: to `answer` as the component, or to judge `policies`.
    pub fn start(task: &str) -> Result<Self, String> {
        let program = std::env::var_os(PROGRAM)
            .ok_or_else(|| format!("{PROGRAM} names no program; `cargo xtask fuzz` sets it"))?;
        let mut child = Command::new(&program)
            .arg(task)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(to), Some(from)) => Ok(Self {
                to: BufWriter::new(to),
                from: BufReader::new(from),
                _child: child,
            }),
            _ => Err("the partner has no pipes".to_owned()),
        }
    }

    /// Calls a function of the component.
    pub fn call(&mut self, function: &str, input: &str) -> Result<String, String> {
        self.exchange(function, input)
            .map_err(|error| format!("the partner is gone: {error}"))?
    }

    /// Lets the host judge by a policy. Gives what became of it.
    pub fn judge(&mut self, component: &[u8]) -> Result<String, String> {
        self.send(component)
            .and_then(|()| self.answer())
            .map_err(|error| format!("the host is gone: {error}"))?
    }

    fn exchange(&mut self, function: &str, input: &str) -> io::Result<Result<String, String>> {
        self.send(function.as_bytes())?;
        self.send(input.as_bytes())?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<Result<String, String>> {
        self.to.flush()?;
        let mut kind = [0];
        self.from.read_exact(&mut kind)?;
        let text = self.receive()?;
        Ok(if kind == [0] { Ok(text) } else { Err(text) })
    }

    /// A length in four bytes, then the bytes.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(bytes)
    }

    fn receive(&mut self) -> io::Result<String> {
        let mut length = [0; 4];
        self.from.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}
