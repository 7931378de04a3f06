//! SARIF 2.1.0: the results of each run that are neither suppressed nor good news.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::error::ReportError;
use super::value::{Bounded, Word};
use super::{Finding, Severity};

/// Adds the findings of all runs.
pub(super) fn findings(
    version: Option<&str>,
    runs: &[Run],
    level_default: Severity,
    findings: &mut Vec<Finding>,
) -> Result<(), ReportError> {
    if !version.is_some_and(|version| version.starts_with("2.1.")) {
        let reason = format!(
            "SARIF version \"{}\" is not 2.1.0",
            version.unwrap_or_default()
        );
        return Err(ReportError::findings(&reason));
    }
    if runs.is_empty() {
        return Err(ReportError::findings("there is no run of a scanner"));
    }
    for (run, number) in runs.iter().zip(1..) {
        run.findings(number, level_default, findings)?;
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(expecting = "an object that describes a run", rename_all = "camelCase")]
pub(super) struct Run {
    #[serde(default)]
    tool: Tool,
    /// Absent if the scanner could not tell.
    #[serde(default)]
    results: Option<Bounded<Outcome>>,
    #[serde(default)]
    invocations: Option<Bounded<Invocation>>,
}

#[derive(Deserialize)]
#[serde(
    expecting = "an object that describes an invocation",
    rename_all = "camelCase"
)]
struct Invocation {
    #[serde(default)]
    execution_successful: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object that describes a tool")]
struct Tool {
    driver: Component,
    extensions: Option<Bounded<Component>>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object that describes a part of a tool")]
struct Component {
    rules: Option<Bounded<Rule>>,
}

#[derive(Deserialize, Default)]
#[serde(
    default,
    expecting = "an object that describes a rule",
    rename_all = "camelCase"
)]
struct Rule {
    id: Option<Word>,
    properties: Option<RuleProperties>,
    default_configuration: Option<Configuration>,
    short_description: Option<Message>,
}

#[derive(Deserialize, Default)]
#[serde(
    default,
    expecting = "an object with properties",
    rename_all = "kebab-case"
)]
struct RuleProperties {
    security_severity: Option<Word>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object that configures a rule")]
struct Configuration {
    level: Option<Word>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object with a message")]
struct Message {
    text: Option<Word>,
    markdown: Option<Word>,
}

/// What SARIF calls a result.
#[derive(Deserialize, Default)]
#[serde(
    default,
    expecting = "an object that describes a result",
    rename_all = "camelCase"
)]
struct Outcome {
    rule_id: Option<Word>,
    rule_index: Option<Word>,
    rule: Option<RuleReference>,
    level: Option<Word>,
    kind: Option<Word>,
    baseline_state: Option<Word>,
    message: Option<Message>,
    locations: Option<Bounded<Location>>,
    suppressions: Option<Bounded<Suppression>>,
}

#[derive(Deserialize, Default)]
#[serde(
    default,
    expecting = "an object that refers to a rule",
    rename_all = "camelCase"
)]
struct RuleReference {
    id: Option<Word>,
    index: Option<Word>,
    tool_component: Option<ComponentReference>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object that refers to a part of a tool")]
struct ComponentReference {
    index: Option<Word>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object that describes a suppression")]
struct Suppression {
    kind: Option<Word>,
    status: Option<Word>,
}

#[derive(Deserialize, Default)]
#[serde(
    default,
    expecting = "an object that describes a location",
    rename_all = "camelCase"
)]
struct Location {
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize, Default)]
#[serde(
    default,
    expecting = "an object that describes a location",
    rename_all = "camelCase"
)]
struct PhysicalLocation {
    artifact_location: Option<ArtifactLocation>,
    region: Option<Region>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object that describes a file")]
struct ArtifactLocation {
    uri: Option<Word>,
}

#[derive(Deserialize, Default)]
#[serde(
    default,
    expecting = "an object that describes a region",
    rename_all = "camelCase"
)]
struct Region {
    start_line: Option<Word>,
}

impl Run {
    fn findings(
        &self,
        number: u64,
        level_default: Severity,
        findings: &mut Vec<Finding>,
    ) -> Result<(), ReportError> {
        let failed = |invocation: &Invocation| invocation.execution_successful == Some(false);
        let invocations = self.invocations.as_ref();
        if invocations.is_some_and(|invocations| invocations.items.iter().any(failed)) {
            let reason = format!("run {number} says that the scanner itself failed");
            return Err(ReportError::findings(&reason));
        }
        let Some(results) = &self.results else {
            let reason = format!("run {number} has no results, so it is not known what there is");
            return Err(ReportError::findings(&reason));
        };
        let rules = Rules::new(&self.tool);
        let present = results.items.iter().filter(|result| result.is_present());
        findings.extend(present.map(|result| result.finding(rules.find(result), level_default)));
        Ok(())
    }
}

/// The rules of one run.
struct Rules<'a> {
    driver: &'a [Rule],
    extensions: Vec<&'a [Rule]>,
    by_id: BTreeMap<&'a str, &'a Rule>,
}

impl<'a> Rules<'a> {
    fn new(tool: &'a Tool) -> Self {
        let driver = tool.driver.rules();
        let extensions = tool.extensions.as_ref().map(|list| &list.items);
        let extensions: Vec<_> = extensions
            .into_iter()
            .flatten()
            .map(Component::rules)
            .collect();
        let mut by_id = BTreeMap::new();
        for rule in driver.iter().chain(extensions.iter().copied().flatten()) {
            if let Some(id) = text(rule.id.as_ref()) {
                by_id.entry(id).or_insert(rule);
            }
        }
        Self {
            driver,
            extensions,
            by_id,
        }
    }

    /// The rule of a result: at its place if it is the one that the result names, else by its name.
    fn find(&self, result: &Outcome) -> Option<&'a Rule> {
        let id = result.id();
        let placed = self.placed(result);
        let is_named = |rule: &Rule| match (id, text(rule.id.as_ref())) {
            (Some(id), Some(own)) => is_below(id, own),
            _ => true,
        };
        placed
            .filter(|rule| is_named(rule))
            .or_else(|| self.named(id?))
            .or(placed)
    }

    fn placed(&self, result: &Outcome) -> Option<&'a Rule> {
        let reference = result.rule.as_ref();
        let component = reference.and_then(|rule| rule.tool_component.as_ref());
        let component = component.and_then(|component| component.index.as_ref()?.index());
        let rules = match component {
            Some(index) => self.extensions.get(index).copied()?,
            None => self.driver,
        };
        let index = result.rule_index.as_ref().and_then(Word::index);
        let index = index.or_else(|| reference?.index.as_ref()?.index());
        rules.get(index?)
    }

    /// A result may add one part to its rule's name: `CA1000/1`.
    fn named(&self, id: &str) -> Option<&'a Rule> {
        let rule = self.by_id.get(id);
        rule.or_else(|| self.by_id.get(id.rsplit_once('/')?.0))
            .copied()
    }
}

fn is_below(id: &str, rule: &str) -> bool {
    id.strip_prefix(rule)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Component {
    fn rules(&self) -> &[Rule] {
        self.rules.as_ref().map_or(&[], |rules| &rules.items)
    }
}

impl Outcome {
    /// Whether it is a problem that is there now and that nobody has accepted. Words that nobody has heard of
    /// leave it there.
    fn is_present(&self) -> bool {
        let is_good = matches!(
            text(self.kind.as_ref()),
            Some("pass" | "notApplicable" | "informational" | "open" | "review")
        );
        let is_gone = text(self.baseline_state.as_ref()) == Some("absent");
        !is_good && !is_gone && !self.is_suppressed()
    }

    /// One that is under review or rejected keeps the others from counting. A comment in the source is the agent's to
    /// write, so it accepts nothing.
    fn is_suppressed(&self) -> bool {
        let suppressions = self
            .suppressions
            .as_ref()
            .map_or(&[][..], |list| &list.items);
        let is_accepted = |suppression: &Suppression| {
            let status = suppression.status.as_ref().map(Word::text);
            text(suppression.kind.as_ref()) != Some("inSource")
                && matches!(status, None | Some(Some("accepted")))
        };
        !suppressions.is_empty() && suppressions.iter().all(is_accepted)
    }

    fn id(&self) -> Option<&str> {
        let reference = self.rule.as_ref().and_then(|rule| rule.id.as_ref());
        text(self.rule_id.as_ref()).or_else(|| text(reference))
    }

    fn finding(&self, rule: Option<&Rule>, level_default: Severity) -> Finding {
        let name = self.id().or_else(|| text(rule?.id.as_ref()));
        let message = self.message.as_ref().and_then(Message::text);
        let message = message.or_else(|| rule?.short_description.as_ref()?.text());
        Finding::new(
            self.severity(rule, level_default),
            name.unwrap_or_default(),
            message.unwrap_or_default(),
            self.place().as_deref(),
        )
    }

    fn severity(&self, rule: Option<&Rule>, level_default: Severity) -> Severity {
        let by_rule = rule.and_then(|rule| rule.default_configuration.as_ref()?.level.as_ref());
        let by_level = self.level.as_ref().or(by_rule);
        let by_level = by_level.map_or(level_default, level);
        let score = rule.and_then(|rule| rule.properties.as_ref()?.security_severity.as_ref());
        score.map_or(by_level, |score| scored(score, by_level))
    }

    fn place(&self) -> Option<String> {
        let location = self.locations.as_ref()?.items.first()?;
        let location = location.physical_location.as_ref()?;
        let file = text(location.artifact_location.as_ref()?.uri.as_ref())?;
        let line = location
            .region
            .as_ref()
            .and_then(|region| region.start_line.as_ref()?.index());
        Some(match line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        })
    }
}

impl Message {
    fn text(&self) -> Option<&str> {
        text(self.text.as_ref()).or_else(|| text(self.markdown.as_ref()))
    }
}

fn text(word: Option<&Word>) -> Option<&str> {
    word.and_then(Word::text)
}

fn level(word: &Word) -> Severity {
    match word.text() {
        Some("warning") => Severity::Medium,
        Some("note") => Severity::Low,
        Some("none") => Severity::Info,
        // "error", and what nobody has heard of.
        _ => Severity::High,
    }
}

/// The severity of a CVSS score. Zero is no score; one that can't be read may be high.
fn scored(score: &Word, by_level: Severity) -> Severity {
    let number = match score {
        Word::Number(number) => Some(*number),
        Word::Text(text) => text.trim().parse::<f64>().ok(),
        Word::Other => None,
    };
    match number {
        Some(number) if number >= 9.0 => Severity::Critical,
        Some(number) if number >= 7.0 => Severity::High,
        Some(number) if number >= 4.0 => Severity::Medium,
        Some(number) if number > 0.0 => Severity::Low,
        Some(0.0) => by_level,
        _ => by_level.max(Severity::High),
    }
}
