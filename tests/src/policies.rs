//! Policies out of text, as they stand in tests/hostile/corpus.
//!
//! A file begins with comments that say what it is about, and on lines of their own what is expected of it:
//!
//! * `expect:` what becomes of it: `judged` and an outcome, or the code of an error; ` or ` where both may be;
//! * `says:` what the error says, among other things;
//! * `reason:` the one reason of the judgement;
//! * `wasi:` what it gets of WASI, if anything;
//! * `fuel:` how much it gets, where that is not what all others get;
//! * `encoding:` of its texts, UTF-8 if nothing is said;
//! * `with:` files of the folder `parts` that are put at its end;
//! * `as: module` where no component is to be made of it.
//!
//! A core module becomes a component of the world `check-policy`, or with WASI of the world in `parts/wasi.wit`. What is a
//! component already stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use ralph_gate::policy::Wasi;
use wit_component::StringEncoding;

use crate::component::wrap;

/// A policy as text, with what is expected of it.
#[derive(Debug, Clone)]
pub struct Written {
    /// The file's name, without its ending.
    pub name: String,
    /// What may become of it.
    pub expect: Vec<Expected>,
    /// What its error says, among other things.
    pub says: Option<String>,
    /// The one reason of its judgement.
    pub reason: Option<String>,
    /// What it gets of WASI.
    pub wasi: Wasi,
    /// How much fuel it gets.
    pub fuel: Option<u64>,
    encoding: StringEncoding,
    is_module: bool,
    text: String,
}

/// What may become of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// It judges, with this outcome.
    Judged(String),
    /// It gives no judgement, with this code.
    Error(String),
}

/// The folder of the corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile/corpus")
}

/// Every policy of the corpus, by name.
pub fn corpus() -> Result<Vec<Written>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder()).context("there is no corpus")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wat") {
            files.push(path);
        }
    }
    files.sort();
    files.iter().map(|path| Written::read(path)).collect()
}

/// One policy of the corpus.
pub fn named(name: &str) -> Result<Written> {
    Written::read(&folder().join(format!("{name}.wat")))
}

/// A component of the corpus.
pub fn component(name: &str) -> Result<Vec<u8>> {
    named(name)?.component()
}

impl Written {
    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&name, &text).with_context(|| path.display().to_string())
    }

    /// Reads a policy's text.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let header: Vec<&str> = text
            .lines()
            .map_while(|line| line.strip_prefix(";; "))
            .collect();
        let is_sentence = |line: &&str| line.starts_with(char::is_uppercase);
        ensure!(
            header.first().is_some_and(is_sentence),
            "the first line says what it is about"
        );
        let field = |name: &str| {
            header
                .iter()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let expect = field("expect").context("nothing is expected of it")?;
        let mut text = text.to_owned();
        for part in field("with").unwrap_or_default().split_whitespace() {
            text = with_part(&text, part)?;
        }
        Ok(Self {
            name: name.to_owned(),
            expect: Expected::parse(expect),
            says: field("says").map(str::to_owned),
            reason: field("reason").map(str::to_owned),
            wasi: match field("wasi") {
                None => Wasi::Absent,
                Some("deny-all") => Wasi::DenyAll,
                Some(other) => bail!("there is no WASI of the kind `{other}`"),
            },
            fuel: field("fuel").map(str::parse).transpose()?,
            is_module: field("as") == Some("module"),
            encoding: field("encoding").unwrap_or("utf8").parse()?,
            text,
        })
    }

    /// The file that a host is given.
    pub fn component(&self) -> Result<Vec<u8>> {
        let bytes = wat::parse_str(&self.text).with_context(|| self.name.clone())?;
        if is_component(&bytes) || self.is_module {
            return Ok(bytes);
        }
        let (world, further) = match self.wasi {
            Wasi::Absent => ("check-policy", Vec::new()),
            Wasi::DenyAll => ("hostile", vec![folder().join("parts/wasi.wit")]),
        };
        wrap(&bytes, world, &further, self.encoding).with_context(|| self.name.clone())
    }
}

impl Expected {
    /// What may become of a policy, as a file says it.
    pub fn parse(text: &str) -> Vec<Self> {
        let one = |text: &str| match text.strip_prefix("judged ") {
            Some(outcome) => Self::Judged(outcome.to_owned()),
            None => Self::Error(text.to_owned()),
        };
        text.split(" or ").map(one).collect()
    }
}

/// A text with a part before its last parenthesis.
fn with_part(text: &str, part: &str) -> Result<String> {
    let path = folder().join("parts").join(format!("{part}.wat"));
    let part = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let end = text.rfind(')').context("it has no end")?;
    let (before, after) = text.split_at(end);
    Ok(format!("{before}{part}{after}"))
}

fn is_component(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(&[0x0d, 0, 1, 0])
}
