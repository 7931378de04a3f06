//! Promises: what the agent says about being done, and whether it counts.
//!
//! Linear in the output, whatever it holds: each byte is looked at a bounded number of times.

mod context;

use std::borrow::Cow;

use serde::Serialize;

use crate::contract::PromiseRules;
use crate::signal::Signal;
use crate::vocabulary::{Word as _, vocabulary};
pub use context::{ContextEntry, ContextKind};
use ralph_gate_text::ansi::{self, Stripped};
use ralph_gate_text::markdown::{self, Region};
use ralph_gate_text::tags::{self, is_blank};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
/// Spaces that make a line code.
const CODE_INDENT: usize = 4;
/// Tags listed in a report; the rest are only counted.
const MAX_TAGS: usize = 64;
/// Bytes of a promise text that are kept.
const MAX_TEXT: usize = 200;
/// Bytes of a tag's content that are looked at for a report. Tags that are nested share theirs.
const MAX_CONTENT: usize = 1024;

vocabulary! {
    /// Why a promise tag was or was not accepted.
    TagStatus {
        /// It counts.
        Accepted = "accepted",
        /// Something other than one context block follows it.
        NotLast = "not_last",
        /// An earlier tag counts.
        NotFirst = "not_first",
        /// In a fenced code block.
        InFencedCode = "in_fenced_code",
        /// In a code span.
        InInlineCode = "in_inline_code",
        /// In a block quote.
        InBlockQuote = "in_block_quote",
        /// In an HTML comment.
        InComment = "in_comment",
        /// In a raw HTML block.
        InHtmlBlock = "in_html_block",
        /// Indented by four spaces or more, as code is.
        InIndentedCode = "in_indented_code",
        /// Something else stands on its line.
        NotAlone = "not_alone",
        /// Around another promise, or behind an open tag that was not closed.
        Nested = "nested",
        /// There is no closing tag.
        Unclosed = "unclosed",
        /// There is no text between the tags.
        Empty = "empty",
        /// Another promise says something else.
        Conflicting = "conflicting",
    }
}

impl TagStatus {
    /// One sentence for a person.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Accepted => "it is the promise that counts",
            Self::NotLast => {
                "it is not the last thing in the output; only a context block may follow it"
            }
            Self::NotFirst => "an earlier promise counts",
            Self::InFencedCode => "it is inside a fenced code block",
            Self::InInlineCode => "it is inside inline code",
            Self::InBlockQuote => "it is inside a block quote",
            Self::InComment => "it is inside an HTML comment",
            Self::InHtmlBlock => "it is inside a raw HTML block",
            Self::InIndentedCode => "it is indented by four spaces or more",
            Self::NotAlone => "it is not alone on its line",
            Self::Nested => "it is inside or around another open tag",
            Self::Unclosed => "it has no closing tag",
            Self::Empty => "it has no text",
            Self::Conflicting => "another promise in the same output says something else",
        }
    }
}

/// One promise tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromiseTag {
    /// Byte offset of the opening tag.
    pub offset: u32,
    /// Bytes to the end of the closing tag.
    pub length: u32,
    /// The text, white space collapsed, at most 200 bytes.
    pub text: String,
    /// Whether it counts.
    pub status: TagStatus,
    /// Why, for a person.
    pub reason: String,
}

impl PromiseTag {
    /// Say where the tag stands in the text that still has its escape sequences.
    fn move_to(&mut self, stripped: &Stripped) {
        let place = |offset: u32| stripped.original(usize::try_from(offset).unwrap_or(usize::MAX));
        let start = place(self.offset);
        let last = place(self.offset.saturating_add(self.length).saturating_sub(1));
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.length = narrow(last.saturating_add(1).saturating_sub(start));
        self.offset = narrow(start);
    }
}

/// What the output promises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct PromiseReport {
    /// The text of the promise that counts.
    pub accepted: Option<String>,
    /// The loop signal, when the accepted text is one.
    pub signal: Option<Signal>,
    /// Two promises that would otherwise count say different things.
    pub conflict: bool,
    /// How many tags there are.
    pub found: u32,
    /// The first 32, the last 32 and the one that counts.
    pub tags: Vec<PromiseTag>,
    /// The context block after the accepted promise.
    pub context: Vec<ContextEntry>,
    /// Why the context block could not be read.
    pub context_warning: Option<String>,
    /// Signals to the contrary in tags that would count by their place.
    #[serde(skip)]
    pub(crate) contrary: Option<Signal>,
}

/// Trim and collapse white space.
pub fn collapse(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len().min(MAX_TEXT));
    for word in text.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    collapsed
}

/// Find the promises in an agent's output.
///
/// ```
/// use ralph_gate_component::contract::PromiseRules;
/// use ralph_gate_component::promise::parse;
/// let report = parse("All done.\n<promise>COMPLETE</promise>\n", PromiseRules::Strict);
/// assert_eq!(report.accepted.as_deref(), Some("COMPLETE"));
/// let report = parse("I will say `<promise>COMPLETE</promise>`", PromiseRules::Strict);
/// assert_eq!(report.accepted, None);
/// ```
pub fn parse(output: &str, rules: PromiseRules) -> PromiseReport {
    // Colors must neither make nor hide a promise.
    let stripped = ansi::strip(output);
    let text = stripped.as_ref().map_or(output, |stripped| &stripped.text);
    let mut report = parse_plain(text, rules);
    if let Some(stripped) = &stripped {
        for tag in &mut report.tags {
            tag.move_to(stripped);
        }
    }
    report
}

/// Find the promises in a text without escape sequences.
fn parse_plain(output: &str, rules: PromiseRules) -> PromiseReport {
    let tags = find_tags(output, rules);
    if tags.is_empty() {
        return PromiseReport::default();
    }
    let judged = match rules {
        PromiseRules::Strict => judge_strict(output, &tags),
        PromiseRules::Lenient => judge_lenient(output, &tags),
    };
    report(output, &tags, &judged)
}

/// A tag by its place. `end` is the end of the closing tag, or none.
#[derive(Debug, Clone, Copy)]
struct Found {
    start: usize,
    end: Option<usize>,
    region: Region,
    /// An open tag stands before it that was not closed there.
    inside: bool,
}

impl Found {
    fn text<'a>(&self, output: &'a str) -> &'a str {
        self.end
            .and_then(|end| output.get(self.start + OPEN.len()..end - CLOSE.len()))
            .unwrap_or_default()
    }
}

/// Which tag counts, and whether there is a conflict.
struct Judgement {
    accepted: Option<usize>,
    conflict: bool,
    statuses: Vec<TagStatus>,
}

/// Every tag in order of its opening. A closing tag belongs to the innermost open tag of its region.
fn find_tags(output: &str, rules: PromiseRules) -> Vec<Found> {
    let marks = tags::marks(output);
    if !marks.iter().any(|mark| mark.opens) {
        return Vec::new();
    }
    let regions = match rules {
        PromiseRules::Strict => {
            let places: Vec<usize> = marks.iter().map(|mark| mark.at).collect();
            markdown::regions(output, &places)
        }
        PromiseRules::Lenient => vec![Region::Visible; marks.len()],
    };
    let mut tags: Vec<Found> = Vec::new();
    let mut visible: Vec<usize> = Vec::new();
    let mut hidden: Vec<usize> = Vec::new();
    let mut hidden_region = Region::Visible;
    for (mark, region) in marks.iter().zip(regions) {
        if region != Region::Visible && region != hidden_region {
            hidden.clear();
            hidden_region = region;
        }
        let open = if region == Region::Visible {
            &mut visible
        } else {
            &mut hidden
        };
        if mark.opens {
            let inside = !open.is_empty();
            open.push(tags.len());
            tags.push(Found {
                start: mark.at,
                end: None,
                region,
                inside,
            });
        } else if let Some(tag) = open.pop().and_then(|index| tags.get_mut(index)) {
            tag.end = Some(mark.at + CLOSE.len());
        }
    }
    tags
}

/// What keeps a tag from counting by itself, regardless of other promises.
fn flaw(output: &str, tags: &[Found], index: usize) -> Option<TagStatus> {
    let tag = tags.get(index)?;
    let hidden = match tag.region {
        Region::Visible => None,
        Region::FencedCode(_) => Some(TagStatus::InFencedCode),
        Region::InlineCode(_) => Some(TagStatus::InInlineCode),
        Region::BlockQuote(_) => Some(TagStatus::InBlockQuote),
        Region::Comment(_) => Some(TagStatus::InComment),
        Region::Html(_) => Some(TagStatus::InHtmlBlock),
    };
    if hidden.is_some() {
        return hidden;
    }
    let Some(end) = tag.end else {
        return Some(TagStatus::Unclosed);
    };
    let around = tags
        .get(index + 1..)
        .unwrap_or_default()
        .iter()
        .take_while(|next| next.start < end)
        .any(|next| next.region == Region::Visible);
    if around || tag.inside {
        return Some(TagStatus::Nested);
    }
    if is_blank(tag.text(output)) {
        return Some(TagStatus::Empty);
    }
    None
}

/// The flaw of each tag. Linear: a tag with a tag inside is left at the first visible one.
fn flaws(output: &str, tags: &[Found]) -> Vec<Option<TagStatus>> {
    (0..tags.len())
        .map(|index| flaw(output, tags, index))
        .collect()
}

/// What is wrong with the line that a tag stands on: a promise stands alone and is not indented like code.
fn line_flaw(output: &str, tag: &Found) -> Option<TagStatus> {
    let is_blank = |letter: char| letter.is_whitespace() && letter != '\n';
    let before = output.get(..tag.start)?;
    let line = before.trim_end_matches(is_blank);
    let indent = before.get(line.len()..)?;
    let after = output.get(tag.end?..)?.trim_start_matches(is_blank);
    let begins = line.is_empty() || line.ends_with('\n');
    let ends = after.is_empty() || after.starts_with('\n') || context::begins(after);
    if !begins || !ends {
        return Some(TagStatus::NotAlone);
    }
    let is_code = indent.contains('\t') || indent.chars().count() >= CODE_INDENT;
    is_code.then_some(TagStatus::InIndentedCode)
}

fn judge_strict(output: &str, tags: &[Found]) -> Judgement {
    let flaws: Vec<Option<TagStatus>> = flaws(output, tags)
        .into_iter()
        .zip(tags)
        .map(|(flaw, tag)| flaw.or_else(|| line_flaw(output, tag)))
        .collect();
    let eligible: Vec<usize> = (0..tags.len())
        .filter(|index| matches!(flaws.get(*index), Some(None)))
        .collect();
    let mut texts = eligible
        .iter()
        .filter_map(|index| tags.get(*index))
        .map(|tag| tag.text(output));
    let first = texts.next().unwrap_or_default();
    let conflict = texts.any(|text| !says_the_same(text, first));
    let last = eligible.last().copied();
    let accepted =
        last.filter(|index| !conflict && tags.get(*index).is_some_and(|tag| is_last(output, tag)));
    let statuses = flaws
        .into_iter()
        .enumerate()
        .map(|(index, flaw)| match flaw {
            Some(flaw) => flaw,
            None if conflict => TagStatus::Conflicting,
            None if Some(index) == accepted => TagStatus::Accepted,
            None => TagStatus::NotLast,
        })
        .collect();
    Judgement {
        accepted,
        conflict,
        statuses,
    }
}

/// Whether two promises have the same text but for white space.
fn says_the_same(one: &str, other: &str) -> bool {
    one == other || one.split_whitespace().eq(other.split_whitespace())
}

/// Whether only white space and at most one context block follow.
fn is_last(output: &str, tag: &Found) -> bool {
    let rest = tag
        .end
        .and_then(|end| output.get(end..))
        .unwrap_or_default();
    let rest = rest.trim_start();
    rest.is_empty() || context::block(rest).is_some_and(|block| block.after.trim().is_empty())
}

fn judge_lenient(output: &str, tags: &[Found]) -> Judgement {
    let flaws = flaws(output, tags);
    // Around another tag, the text is not a promise; inside one, it is.
    let accepted = (0..tags.len()).find(|index| match flaws.get(*index) {
        Some(None) => true,
        Some(Some(TagStatus::Nested)) => tags.get(*index).is_some_and(|tag| {
            let next = tags.get(index + 1).map(|next| next.start);
            let innermost = next.is_none_or(|next| tag.end.is_some_and(|end| next >= end));
            innermost && !is_blank(tag.text(output))
        }),
        _ => false,
    });
    let statuses = flaws
        .into_iter()
        .enumerate()
        .map(|(index, flaw)| match flaw {
            _ if Some(index) == accepted => TagStatus::Accepted,
            Some(flaw) => flaw,
            None => TagStatus::NotFirst,
        })
        .collect();
    Judgement {
        accepted,
        conflict: false,
        statuses,
    }
}

fn report(output: &str, tags: &[Found], judged: &Judgement) -> PromiseReport {
    let accepted = judged.accepted.and_then(|index| tags.get(index));
    let text = accepted.map(|tag| collapse(tag.text(output)));
    let (context, context_warning) = accepted
        .and_then(|tag| output.get(tag.end?..))
        .map(context::read)
        .unwrap_or_default();
    let statuses = || tags.iter().zip(judged.statuses.iter().copied());
    PromiseReport {
        signal: text.as_deref().and_then(Signal::parse),
        accepted: text.map(|text| keep(&text).into_owned()),
        conflict: judged.conflict,
        found: u32::try_from(tags.len()).unwrap_or(u32::MAX),
        tags: listed(output, tags, &judged.statuses),
        context,
        context_warning,
        contrary: statuses().find_map(|(tag, status)| contrary(output, tag, status)),
    }
}

/// A signal to the contrary in a tag that counts, or would but for another promise.
fn contrary(output: &str, tag: &Found, status: TagStatus) -> Option<Signal> {
    match status {
        TagStatus::Accepted | TagStatus::Conflicting => {
            let text = tag.text(output).trim();
            Signal::parse(text).filter(|signal| *signal != Signal::Done)
        }
        _ => None,
    }
}

/// The first and the last tags, and the one that counts.
fn listed(output: &str, tags: &[Found], statuses: &[TagStatus]) -> Vec<PromiseTag> {
    let skipped = MAX_TAGS / 2..tags.len().saturating_sub(MAX_TAGS / 2);
    tags.iter()
        .zip(statuses)
        .enumerate()
        .filter(|(index, (_, status))| !skipped.contains(index) || **status == TagStatus::Accepted)
        .map(|(_, (tag, status))| PromiseTag {
            offset: u32::try_from(tag.start).unwrap_or(u32::MAX),
            length: u32::try_from(tag.end.map_or(OPEN.len(), |end| end - tag.start))
                .unwrap_or(u32::MAX),
            text: match status {
                TagStatus::Accepted => keep(&collapse(tag.text(output))).into_owned(),
                _ => shown(tag.text(output)),
            },
            status: *status,
            reason: status.reason().to_owned(),
        })
        .collect()
}

/// What a report shows of a tag that does not count.
fn shown(content: &str) -> String {
    let looked_at = content.get(..content.floor_char_boundary(MAX_CONTENT));
    match looked_at {
        Some(start) if start.len() < content.len() => {
            keep(&format!("{} …", collapse(start))).into_owned()
        }
        _ => keep(&collapse(content)).into_owned(),
    }
}

/// At most [`MAX_TEXT`] bytes of a text, cut at a character.
fn keep(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_TEXT {
        return Cow::Borrowed(text);
    }
    let mut end = MAX_TEXT - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default()))
}
