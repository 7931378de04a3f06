//! Rules about fingerprints: the order and the layout of what the host hands over don't matter.

use ralph_gate_component::fingerprint::{Fingerprint, of};
use ralph_gate_component::iteration::{
    Action, Artifact, ArtifactKind, CheckResult, Iteration, Outcome, ToolOutput,
};

/// Checks parts of a text as what an iteration left behind. The first letter of a part says what it is,
/// the rest of its first line is its name.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    let iteration = iteration(&text);
    let fingerprint = of(&iteration);
    assert_eq!(of(&iteration), fingerprint);
    parts(&iteration, &fingerprint);
    let mut turned = iteration.clone();
    turned.artifacts.reverse();
    turned.tool_outputs.reverse();
    turned.checks.reverse();
    assert_eq!(of(&turned).digest, fingerprint.digest, "the order matters");
    layout(&iteration, &fingerprint);
}

fn iteration(text: &str) -> Iteration<'_> {
    let mut iteration = Iteration::new(1, Action::Continue);
    for part in text.split(super::SEPARATOR) {
        let (first, content) = part.split_once('\n').unwrap_or((part, ""));
        let mut letters = first.chars();
        let kind = letters.next();
        let name = letters.as_str();
        match kind {
            Some('o') => iteration.output = content.into(),
            Some('p') => iteration.tool_outputs.push(ToolOutput {
                name: name.into(),
                content: content.into(),
            }),
            Some('c') => iteration.checks.push(CheckResult::new(
                name,
                match content.len() % 3 {
                    0 => Outcome::Pass,
                    1 => Outcome::Fail,
                    _ => Outcome::Unknown,
                },
            )),
            _ => iteration.artifacts.push(Artifact {
                name: name.into(),
                kind: match kind {
                    Some('y') => ArtifactKind::Yaml,
                    Some('j') => ArtifactKind::Json,
                    Some('d') => ArtifactKind::Digest,
                    _ => ArtifactKind::Text,
                },
                content: content.into(),
            }),
        }
    }
    iteration
}

fn parts(iteration: &Iteration<'_>, fingerprint: &Fingerprint) {
    let is_digest =
        |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_digest(&fingerprint.digest));
    assert!(fingerprint.parts.iter().all(|part| is_digest(&part.digest)));
    assert_eq!(fingerprint.state.is_some(), !iteration.artifacts.is_empty());
    let is_given = !iteration.artifacts.is_empty() || !iteration.tool_outputs.is_empty();
    let has_output = !iteration.output.trim().is_empty();
    assert_eq!(fingerprint.counted, is_given || has_output);
    let expected = match (is_given, has_output) {
        (true, _) => iteration.artifacts.len() + iteration.tool_outputs.len() + 1,
        (false, true) => 2,
        (false, false) => 1,
    };
    assert_eq!(fingerprint.parts.len(), expected);
    let is_note_allowed = iteration
        .artifacts
        .iter()
        .any(|artifact| matches!(artifact.kind, ArtifactKind::Yaml | ArtifactKind::Json));
    assert!(is_note_allowed || fingerprint.parts.iter().all(|part| part.note.is_none()));
}

/// Line ends and trailing space of texts don't matter. Escape sequences may reach over a line end.
fn layout(iteration: &Iteration<'_>, fingerprint: &Fingerprint) {
    let relaid = |text: &str| text.replace('\r', "").replace('\n', " \t\r\n") + "\n\n";
    let mut other = iteration.clone();
    for artifact in &mut other.artifacts {
        let is_text = artifact.kind == ArtifactKind::Text;
        if is_text && !artifact.content.contains(['\u{1b}', '\r']) {
            artifact.content = relaid(&artifact.content).into();
        }
    }
    for tool in &mut other.tool_outputs {
        if !tool.content.contains(['\u{1b}', '\r']) {
            tool.content = relaid(&tool.content).into();
        }
    }
    assert_eq!(
        of(&other).digest,
        fingerprint.digest,
        "layout is no progress"
    );
}
