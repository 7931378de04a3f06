//! `ralph-gate policy pin`: the check that pins a policy by its digest.

use std::path::{Path, PathBuf};

use ralph_gate::config::{Check, Config, Judge};
use ralph_gate::memory::save_text;
use ralph_gate::policy::{Description, PolicyLimits, Wasi};
use ralph_gate::visible::as_json;
use serde_json::json;

use super::args::PinArgs;
use super::{Cached, Named, host};
use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::terminal::{Terminal, clean};

pub(super) fn run(args: &PinArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let named = args.policy.read()?;
    if matches!(named, Named::BuiltIn(_)) {
        return Err(CliError::Usage {
            message: "what this program carries needs no pin: use the kinds `cel` and `rego`"
                .to_owned(),
        });
    }
    let digest = blake3(named.bytes());
    // What can't be run is not worth a pin.
    let limits = PolicyLimits::default();
    let host = host(Cached::Usual).map_err(|error| named.failed(error))?;
    named.announce(&host, terminal);
    let policy = named.load(&host, args.policy.wasi(), &limits)?;
    let said = policy.description(&limits);
    let said = said.map_err(|error| named.failed(error))?;
    if args.write {
        return write(&args.policy.file, &digest, terminal);
    }
    let id = args.check.clone().unwrap_or_else(|| name(&said.name));
    let check = table(args, &id, &digest, &said);
    let answer = as_json(&json!({ "check": id, "blake3": digest, "toml": check }));
    terminal.print_answer(&answer, |_| check)?;
    Ok(Exit::Success)
}

fn blake3(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// What a policy calls itself, as far as that can be a check's id.
fn name(said: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let plain: String = said.chars().filter(|it| is_plain(*it)).take(60).collect();
    if plain.is_empty() {
        "policy".to_owned()
    } else {
        plain
    }
}

/// A text as TOML writes it, which is as JSON does.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn table(args: &PinArgs, id: &str, digest: &str, said: &Description) -> String {
    let mut lines = vec![
        format!("# {} {}", clean(&said.name), clean(&said.version)),
        format!("[checks.{}]", quoted(id)),
        "kind = \"policy\"".to_owned(),
        format!(
            "component = {}",
            quoted(&args.policy.file.to_string_lossy())
        ),
        format!("blake3 = {}", quoted(digest)),
    ];
    if args.policy.wasi() == Wasi::DenyAll {
        lines.push("wasi = \"deny-all\"".to_owned());
    }
    if !said.wants.is_empty() {
        let names = said.wants.iter().map(|name| quoted(&clean(name)));
        let files: Vec<String> = names.map(|name| format!("{name} = \"FILE\"")).collect();
        lines.push(format!("artifacts = {{ {} }}", files.join(", ")));
    }
    lines.push(format!(
        "# then name {} among the checks of the contract\n",
        quoted(id)
    ));
    lines.join("\n")
}

/// Puts a new digest in the place of the old one.
fn write(file: &Path, digest: &str, terminal: &Terminal) -> Result<Exit, CliError> {
    let path = Config::find(Path::new("."))?;
    let config = Config::load(&path)?;
    let old = pins(&config, file);
    if old.is_empty() {
        return Err(CliError::Usage {
            message: format!(
                "no check in {} has the component {}; `ralph-gate policy pin` without `--write` prints one",
                path.display(),
                file.display()
            ),
        });
    }
    let mut text = config.text().to_owned();
    for old in &old {
        text = text.replace(old, digest);
    }
    save_text(&path, &text)?;
    let answer = json!({ "file": path, "blake3": digest, "replaced": old }).to_string();
    terminal.print_answer(&answer, |painter| {
        format!(
            "{} {} is pinned in {}\n",
            painter.good("done:"),
            clean(&file.display().to_string()),
            clean(&path.display().to_string())
        )
    })?;
    Ok(Exit::Success)
}

/// The digests that a configuration has for a file.
fn pins(config: &Config, file: &Path) -> Vec<String> {
    let absolute = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let meant = absolute(file.to_owned());
    let checks = config.checks.values();
    let pins = checks.filter_map(|check| match check {
        Check::Policy(check) => match &check.judge {
            Judge::Component(pinned) => Some(pinned),
            Judge::Cel | Judge::Rego(_) => None,
        },
        _ => None,
    });
    pins.filter(|it| absolute(config.workspace.join(&it.path)) == meant)
        .map(|it| it.blake3.clone())
        .filter(|it| !it.is_empty())
        .collect()
}
