//! Every form of a report: what it shows, and that names which mean harm stay names. `BLESS=1` writes the golden files anew.

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers to be looked at"
)]
mod sample;
mod sha256;

use std::collections::BTreeSet;
use std::path::Path;

use ralph_gate_report::model::{Comparison, Outcome, Report};
use ralph_gate_report::render::text::is_hidden;
use ralph_gate_report::render::{Paint, Plain, STYLE_HASH, html, json, markdown, table};
use serde_json::Value;

/// Compares with a golden file.
fn golden(name: &str, seen: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, seen).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = seen.lines().zip(expected.lines());
    let differs = lines.position(|(one, other)| one != other);
    assert!(
        seen == expected,
        "{name} differs after so many equal lines: {differs:?}; BLESS=1 writes it anew"
    );
}

/// A report of nothing at all.
fn empty() -> Report {
    let mut report = sample::report(12);
    report.runs.clear();
    report.before.runs.clear();
    report.after.runs.clear();
    report.overall = Comparison {
        rates: Vec::new(),
        amounts: Vec::new(),
        endings: Vec::new(),
        iterations: Vec::new(),
        pairs: Vec::new(),
    };
    report.classes.clear();
    report.missing.clear();
    report.definitions.clear();
    report.decision.steps.clear();
    report.decision.outcome = Outcome::NotEnoughData;
    report.decision.needed_per_arm = Some(1234);
    report
}

/// The page without its data.
fn page(report: &Report) -> String {
    let page = html(report);
    let (before, rest) = page.split_once("<script ").unwrap();
    let (_, after) = rest.split_once("</script>").unwrap();
    format!("{before}{after}")
}

#[test]
fn a_terminal_sees_aligned_columns() {
    golden("wide.txt", &table(&sample::report(60), &Plain, 120));
}

#[test]
fn a_narrow_terminal_sees_the_same_in_two_lines_a_row() {
    golden("narrow.txt", &table(&sample::report(60), &Plain, 80));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 80, 84, 100, 120, 200] {
        let text = table(&sample::report(60), &Plain, width);
        let widest = text
            .lines()
            .max_by_key(|line| line.chars().count())
            .unwrap();
        assert!(widest.chars().count() <= width, "{width}: {widest}");
    }
}

#[test]
fn colours_change_no_column() {
    struct Marked;
    impl Paint for Marked {
        fn bold(&self, text: &str) -> String {
            format!("\x01{text}\x02")
        }
        fn dim(&self, text: &str) -> String {
            self.bold(text)
        }
        fn good(&self, text: &str) -> String {
            self.bold(text)
        }
        fn bad(&self, text: &str) -> String {
            self.bold(text)
        }
    }
    let report = sample::report(60);
    let painted = table(&report, &Marked, 120);
    assert!(painted.contains("\x01default on\x02"));
    assert_eq!(
        painted.replace(['\x01', '\x02'], ""),
        table(&report, &Plain, 120)
    );
}

/// What `bindings/web/playground/test/report.test.mjs` opens in a browser.
#[test]
fn the_page_and_its_data_are_those_that_a_browser_was_shown() {
    let report = sample::report(60);
    golden("report.html", &html(&report));
    golden("report.json", &json(&report));
}

#[test]
fn markdown_is_tables_whose_rows_are_as_long_as_their_heads() {
    let text = markdown(&sample::report(60));
    golden("report.md", &text);
    let mut columns = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let cells = line.replace("\\|", "").matches('|').count();
        assert_eq!(*columns.get_or_insert(cells), cells, "{line}");
    }
}

#[test]
fn nothing_hidden_is_in_any_form() {
    let report = sample::report(12);
    for text in [
        table(&report, &Plain, 120),
        markdown(&report),
        html(&report),
        json(&report),
    ] {
        let hidden = text.chars().find(|c| is_hidden(*c) && *c != '\n');
        assert_eq!(hidden, None);
    }
    assert!(page(&report).contains("rename \\u{1b}[2J\\u{202e}evil\\u{200b} | `x`"));
}

#[test]
fn names_can_not_become_markup() {
    let report = sample::report(12);
    assert!(page(&report).contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
    assert!(markdown(&report).contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
    assert_eq!(html(&report).matches("<script").count(), 1);
    assert_eq!(html(&report).matches("</script").count(), 1);
    assert!(!html(&report).contains("<img"));
}

/// The tags of a page, in order: name, attributes, and whether it closes.
fn tags(page: &str) -> Vec<(String, String, bool)> {
    let mut tags = Vec::new();
    for piece in page.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap();
        let is_closing = tag.starts_with('/');
        let tag = tag.trim_start_matches('/');
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        tags.push((
            name.trim_end_matches('/').to_owned(),
            attributes.to_owned(),
            is_closing,
        ));
    }
    tags
}

#[test]
fn the_page_is_well_formed_and_its_ids_are_its_own() {
    let page = page(&sample::report(60));
    let mut open: Vec<String> = Vec::new();
    let mut ids = BTreeSet::new();
    for (name, attributes, is_closing) in tags(&page) {
        if is_closing {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()));
        } else if !(name.starts_with('!') || name == "meta" || attributes.ends_with('/')) {
            open.push(name);
        }
        for id in attributes
            .split(" id=\"")
            .skip(1)
            .chain(attributes.strip_prefix("id=\""))
        {
            let id = id.split('"').next().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for (_, attributes, _) in tags(&page) {
        for key in ["aria-labelledby=\"", "href=\"#"] {
            for list in attributes.split(key).skip(1) {
                for id in list.split('"').next().unwrap().split(' ') {
                    assert!(ids.contains(id), "nothing is called {id}");
                }
            }
        }
    }
}

#[test]
fn the_page_names_no_address_and_has_no_script() {
    let report = sample::report(12);
    for (name, attributes, _) in tags(&page(&report)) {
        assert!(
            !["script", "link", "img", "iframe", "object", "embed", "form"]
                .contains(&name.as_str())
        );
        assert!(
            !attributes.contains("src=") && !attributes.contains("style="),
            "{attributes}"
        );
        for address in attributes.split("href=\"").skip(1) {
            assert!(address.starts_with('#'), "{address}");
        }
        assert!(
            !attributes
                .split(' ')
                .any(|attribute| attribute.starts_with("on")),
            "{attributes}"
        );
    }
    assert!(html(&report).contains("content=\"default-src 'none';"));
}

#[test]
fn the_policies_let_in_this_style_and_no_other() {
    let page = html(&empty());
    let style = page.split_once("<style>").unwrap().1;
    let style = style.split_once("</style>").unwrap().0;
    let expected = format!(
        "sha256-{}",
        sha256::base64(&sha256::digest(style.as_bytes()))
    );
    assert_eq!(
        STYLE_HASH, expected,
        "render/html/mod.rs has another digest"
    );
    assert!(page.contains(&format!("style-src '{expected}';")));
    let playground =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/web/playground/index.html");
    let playground = std::fs::read_to_string(playground).unwrap();
    assert!(
        playground.contains(&expected),
        "the playground shows reports in a frame, and its index.html has to name {expected}"
    );
}

#[test]
fn the_page_carries_the_whole_report() {
    let report = sample::report(12);
    let page = html(&report);
    let data = page.split_once("id=\"report\">").unwrap().1;
    let data = data.split_once("</script>").unwrap().0;
    let embedded: Value = serde_json::from_str(data).unwrap();
    let alone: Value = serde_json::from_str(&json(&report)).unwrap();
    assert!(embedded == alone);
    let usual = serde_json::to_string(&report).unwrap();
    assert!(alone == serde_json::from_str::<Value>(&usual).unwrap());
    assert_eq!(json(&report).lines().count(), 1);
    let task = alone["runs"][8]["task"].as_str();
    assert_eq!(task, Some(sample::HOSTILE_TASK));
}

#[test]
fn long_lists_are_cut_and_say_where_the_rest_is() {
    let page = page(&sample::report(1000));
    assert!(page.contains("200 of 1,000 pairs are drawn and listed"));
    assert!(page.contains("<code>overall.rates[0].before.runs</code> in the JSON"));
    let slopes = page.split_once("id=\"slopes-iterations-t\"").unwrap().1;
    let slopes = slopes.split_once("</svg>").unwrap().0;
    assert_eq!(slopes.matches("class=\"slope ").count(), 200);
}

#[test]
fn the_page_itself_does_not_grow_with_the_runs() {
    let (some, many) = (
        page(&sample::report(2000)).len(),
        page(&sample::report(8000)).len(),
    );
    assert!(many < some + some / 10, "{some} {many}");
}

#[test]
fn every_count_of_the_page_opens_to_its_runs() {
    let report = sample::report(12);
    let page = page(&report);
    for row in &report.overall.rates {
        for (arm, rate) in [("before", &row.before), ("after", &row.after)] {
            let title = format!(
                "{}, {arm}<span class=\"count\">{}</span>",
                row.title, rate.count
            );
            assert!(page.contains(&title), "{title}");
        }
    }
    assert!(page.contains("<code>ralph/task-001</code>"));
}

#[test]
fn too_few_data_is_said_in_place_of_a_number() {
    let report = sample::report(12);
    assert!(table(&report, &Plain, 160).contains("too few data (12 of 59)"));
    assert!(markdown(&report).contains("too few data (12 of 59)"));
    assert!(page(&report).contains("too few data</span><span class=\"detail\">12 of 59</span>"));
}

#[test]
fn a_report_of_nothing_has_every_form() {
    let report = empty();
    let text = table(&report, &Plain, 80);
    assert!(text.starts_with("Decision: not enough data\n"));
    assert!(text.contains("About 1,234 runs in each arm would settle it"));
    assert!(markdown(&report).contains("# Decision: not enough data"));
    let page = page(&report);
    assert!(page.contains("Not enough data</h1>") && page.contains("Nothing is missing."));
    assert!(!page.contains("NaN"));
    assert!(serde_json::from_str::<Value>(&json(&report)).is_ok());
}
