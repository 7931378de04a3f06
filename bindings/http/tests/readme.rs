//! The walk-through of the README: every request with curl is answered as it is written there. `BLESS=1` writes the answers.

use std::fs;
use std::path::Path;

use ralph_gate_http::{Request, answer};

/// What a command of curl asks for.
struct Command<'c> {
    path: &'c str,
    body: Option<(&'static str, &'c str)>,
}

/// The path is behind `$URL`, a body in single quotes behind its option.
fn parse(command: &str) -> Command<'_> {
    let path = command.split("$URL").nth(1).unwrap();
    let path = path.split_whitespace().next().unwrap();
    let body = |option: &str| command.split_once(option)?.1.split('\'').nth(1);
    let body = match (body("--json"), body("--data")) {
        (Some(text), _) => Some(("application/json", text)),
        (_, Some(text)) => Some(("application/x-www-form-urlencoded", text)),
        _ => None,
    };
    Command { path, body }
}

fn ask(command: &str) -> String {
    let Command { path, body } = parse(command);
    let request = Request {
        method: if body.is_some() { "POST" } else { "GET" },
        path,
        content_type: body.map(|(kind, _)| kind),
        ..Request::default()
    };
    let text = body.map_or("", |(_, text)| text);
    let response = answer(&request, || Ok(text.as_bytes().to_vec()));
    response.body.unwrap().into_owned()
}

#[test]
fn every_request_of_the_readme_is_answered_as_it_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(&file).unwrap();
    // Every second piece is a block.
    let mut pieces: Vec<String> = text.split("```").map(str::to_owned).collect();
    let mut asked = 0;
    let mut answer = None;
    for piece in pieces.iter_mut().skip(1).step_by(2) {
        if let Some(command) = piece.strip_prefix("sh\ncurl ") {
            answer = Some(ask(command));
            asked += 1;
        } else if piece.starts_with("json\n") {
            *piece = format!("json\n{}\n", answer.take().unwrap());
        }
    }
    assert!(asked > 5 && answer.is_none());
    let true_text = pieces.join("```");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &true_text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == true_text,
        "the answers are others; `BLESS=1 cargo test --package ralph-gate-http --test readme` writes them anew"
    );
}
