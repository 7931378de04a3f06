//! `ralph-gate sessions`: every loop that is remembered here, and how it stands.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ralph_gate::memory::{Listed, list};
use ralph_gate::runner::{Look, Outside};
use serde_json::{Value, json};

use super::super::args::{LoopArgs, SessionsArgs};
use super::super::error::CliError;
use super::super::run::iterations;
use super::super::terminal::{Painter, Terminal, clean, print};
use super::super::{Exit, gate};
use super::place;
use super::standing::state;

/// One session, as far as it can be read.
struct Row {
    root: PathBuf,
    listed: Listed,
    /// When it was written last, since 1970. Whole: two sessions may be written within one second.
    written: Duration,
    look: Option<Look>,
}

pub(crate) fn sessions(args: &SessionsArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let named = LoopArgs {
        key: None,
        draft: false,
        root: args.root.clone(),
    };
    let roots = place::roots(&named, terminal);
    let mut rows = Vec::new();
    for root in &roots {
        rows.extend(list(root)?.into_iter().map(|listed| row(root, listed)));
    }
    rows.sort_by(|a, b| (b.written, &a.listed.folder).cmp(&(a.written, &b.listed.folder)));
    if args.keys {
        let keys = rows.iter().filter_map(|row| row.listed.key.as_ref());
        let mut text = String::new();
        for key in keys {
            text.push_str(&clean(key.text()));
            text.push('\n');
        }
        print(&text)?;
        return Ok(Exit::Success);
    }
    for row in &mut rows {
        row.look = look(&row.root, &row.listed);
    }
    let answer = json!({ "root": roots.first(), "roots": roots, "sessions": rows.iter().map(Row::json).collect::<Vec<_>>() });
    terminal.print_answer(&answer.to_string(), |painter| {
        if rows.is_empty() {
            let roots = roots.iter().map(|root| clean(&root.display().to_string()));
            return format!("no sessions in {}\n", roots.collect::<Vec<_>>().join(", "));
        }
        rows.iter().map(|row| row.line(painter)).collect()
    })?;
    Ok(Exit::Success)
}

fn row(root: &Path, listed: Listed) -> Row {
    let checkpoints = root.join(&listed.folder).join("checkpoints");
    let written = checkpoints
        .metadata()
        .and_then(|metadata| metadata.modified());
    let written = written.unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH);
    Row {
        root: root.to_owned(),
        listed,
        written: written.unwrap_or_default(),
        look: None,
    }
}

/// How it stands. None where that can't be read: the list says why.
fn look(root: &Path, listed: &Listed) -> Option<Look> {
    let outside = Outside {
        root: root.to_owned(),
        key: listed.key.clone()?,
    };
    outside.look(gate().ok()?).ok()
}

impl Row {
    fn json(&self) -> Value {
        let look = self.look.as_ref();
        json!({
            "key": self.listed.key,
            "root": self.root,
            "folder": self.listed.folder,
            "state": look.map(Look::state),
            "stop_reason": look.and_then(Look::stop_reason),
            "iteration": self.listed.iteration,
            "written_at_ms": u64::try_from(self.written.as_millis()).unwrap_or(u64::MAX),
            "problem": self.listed.problem,
        })
    }

    fn line(&self, painter: Painter) -> String {
        let key = self
            .listed
            .key
            .as_ref()
            .map_or(self.listed.folder.as_str(), |key| key.text());
        let how = match (&self.look, &self.listed.problem) {
            (Some(look), _) => state(look),
            (None, Some(problem)) => format!("unreadable: {problem}"),
            (None, None) => "unreadable".to_owned(),
        };
        format!(
            "{}  {}  {}, {}\n",
            painter.dim(&ago(self.written.as_secs())),
            painter.bold(&clean(key)),
            iterations(self.listed.iteration),
            clean(&how)
        )
    }
}

/// `5 min ago`, as wide as any other.
fn ago(written: u64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs());
    let seconds = now.saturating_sub(written);
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{:>12}", format!("{count} {unit} ago"))
}
