//! The rules of a module: how deep each is, and which refers to which.
//!
//! The engine evaluates a rule where another one refers to it, by recursion. It notices rules that depend on
//! themselves, but not functions that do.

use std::collections::{BTreeMap, BTreeSet};

use ralph_gate_policy_evidence::depth::{Depth, Limit, Mark, TooDeep};
use thiserror::Error;

use crate::tokens::{Kind, Token};

/// What the stack of a component can bear in one rule, with room to spare: see the tests. Brackets count for
/// more than they weigh, because the engine parses a list within a list twice, and so on.
pub(crate) const LIMIT: Limit = Limit {
    bracket: 12,
    most: 130,
};

/// The most that rules which refer to one another may add up to.
pub(crate) const MOST_TOGETHER: u32 = 500;

/// Keywords that begin a statement.
const STARTERS: [&str; 3] = ["default", "import", "package"];

/// What a rule counts as by itself.
const RULE: u32 = 8;

/// Why rules are refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum RulesError {
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    #[error("the function `{0}` calls itself, which Rego does not allow")]
    Recursive(String),
    #[error(
        "rules refer to rules too deeply, beginning with `{0}`: together they count as more than {MOST_TOGETHER}"
    )]
    TooDeepTogether(String),
    #[error(
        "rules refer to one another too much, in a circle or through `data`: together they count as {0}, and at most {MOST_TOGETHER} may be"
    )]
    Entangled(u32),
    #[error("`import data` has no meaning here: there is no other module and no data")]
    Import,
}

/// All that is known of the rules of one name.
#[derive(Debug, Default)]
struct Rule<'t> {
    is_function: bool,
    /// Of the deepest one.
    depth: u32,
    /// The names in it.
    mentions: BTreeSet<&'t str>,
    /// Whether it could refer to any rule, by a name that is not spelt out.
    uses_data: bool,
}

type Rules<'t> = BTreeMap<&'t str, Rule<'t>>;

/// Refuses what could exhaust the stack.
pub(crate) fn check(tokens: &[Token<'_>]) -> Result<(), RulesError> {
    let rules = rules(tokens)?;
    let longest = longest(&rules)?;
    let total = rules.values().map(weight).fold(0, u32::saturating_add);
    // Each rule that uses data can be the beginning of another path, up to all the rules there are.
    let users = rules.values().filter(|rule| rule.uses_data).count();
    let users = u32::try_from(users).unwrap_or(u32::MAX);
    let together = longest
        .saturating_mul(users.saturating_add(1))
        .min(total.max(longest));
    if together > MOST_TOGETHER {
        return Err(RulesError::Entangled(together));
    }
    recursion(&rules)
}

fn weight(rule: &Rule<'_>) -> u32 {
    rule.depth.saturating_add(RULE)
}

/// Splits a module into its statements, and gathers them by name. Package and imports have none.
fn rules<'t>(tokens: &[Token<'t>]) -> Result<Rules<'t>, RulesError> {
    let mut rules = Rules::new();
    for statement in statements(tokens) {
        if matches!(statement, [first, second, ..] if first.text == "import" && second.text == "data")
        {
            return Err(RulesError::Import);
        }
        add(&mut rules, statement)?;
    }
    Ok(rules)
}

/// The statements of a module. A new one begins with a name where an expression could end: nothing goes on
/// with a name.
fn statements<'a, 't>(tokens: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let mut starts = vec![0];
    let (mut open, mut before) = (0_usize, None::<Token<'t>>);
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => open += 1,
            Kind::Close => open = open.saturating_sub(1),
            Kind::Word | Kind::Keyword if open == 0 => {
                let begins = token.kind == Kind::Word || STARTERS.contains(&token.text);
                if begins && before.is_some_and(Token::can_end) {
                    starts.push(index);
                }
            }
            _ => {}
        }
        before = Some(*token);
    }
    starts.push(tokens.len());
    let ranges = starts.windows(2).filter_map(|pair| match pair {
        [start, end] => tokens.get(*start..*end),
        _ => None,
    });
    ranges.collect()
}

/// Adds what a statement says to the rules that it is of.
fn add<'t>(rules: &mut Rules<'t>, statement: &[Token<'t>]) -> Result<(), RulesError> {
    let depth = depth(statement)?;
    let (mentions, uses_data) = mentions(statement);
    for (name, is_function) in heads(statement) {
        let rule = rules.entry(name).or_default();
        rule.is_function |= is_function;
        rule.depth = rule.depth.max(depth);
        rule.mentions.extend(mentions.iter().copied());
        rule.uses_data |= uses_data;
    }
    Ok(())
}

/// The name that a statement defines, and whether it is a function's.
fn heads<'t>(statement: &[Token<'t>]) -> Vec<(&'t str, bool)> {
    let mut heads = Vec::new();
    let mut tokens = statement.iter().skip_while(|token| token.text == "default");
    if let Some(first) = tokens.next().filter(|token| token.kind == Kind::Word) {
        let is_path = |token: &&Token<'_>| {
            matches!(token.kind, Kind::Word | Kind::Text) || matches!(token.text, "." | "[" | "]")
        };
        let after = tokens.find(|token| !is_path(token));
        heads.push((first.text, after.is_some_and(|token| token.text == "(")));
    }
    if has_function_contains(statement) {
        heads.push(("contains", true));
    }
    heads
}

/// `contains` can be the name of a function. Then it stands in no bracket, where an expression could end, and
/// has a bracket after it; but so it might between a set and its element.
fn has_function_contains(statement: &[Token<'_>]) -> bool {
    let mut open = 0_usize;
    let triples = statement.windows(3);
    triples.into_iter().any(|triple| {
        let [before, token, after] = triple else {
            return false;
        };
        match before.kind {
            Kind::Open => open += 1,
            Kind::Close => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0 && before.can_end() && token.text == "contains" && after.text == "("
    })
}

/// The names that a statement refers to, and whether it uses data. The first one is its own.
fn mentions<'t>(statement: &[Token<'t>]) -> (BTreeSet<&'t str>, bool) {
    let (mut mentions, mut uses_data) = (BTreeSet::new(), false);
    // Whether the tokens are a path of data, such as `data.gate["allow"]`.
    let mut in_data = false;
    let mut before = None::<Token<'t>>;
    let skipped = statement.iter().skip_while(|token| token.text == "default");
    for token in skipped.skip(1) {
        let is_member = before.is_some_and(|before| before.text == ".");
        match token.kind {
            Kind::Word | Kind::Keyword if is_member => {
                if in_data {
                    mentions.insert(token.text);
                }
            }
            Kind::Word | Kind::Keyword => {
                in_data = token.text == "data";
                uses_data |= in_data;
                mentions.insert(token.text);
            }
            Kind::Text if in_data => {
                mentions.insert(token.text);
            }
            Kind::Open | Kind::Close => {}
            _ => in_data &= token.text == ".",
        }
        before = Some(*token);
    }
    (mentions, uses_data)
}

/// How deep a statement is. Lines of a body are beside one another.
pub(crate) fn depth(statement: &[Token<'_>]) -> Result<u32, TooDeep> {
    let mut depth = Depth::new(LIMIT);
    let mut before = None::<Token<'_>>;
    for token in statement {
        let is_apart = before.is_some_and(Token::can_end) && !token.goes_on();
        if token.begins_line && is_apart {
            depth.see(Mark::Separator);
        }
        if let Some(mark) = token.mark() {
            depth.see(mark);
        }
        before = Some(*token);
    }
    depth.finish()
}

/// The heaviest path through rules that refer to one another. If some do in a circle, all of them are on it.
fn longest(rules: &Rules<'_>) -> Result<u32, RulesError> {
    let mut walk = Walk {
        rules,
        known: BTreeMap::new(),
        path: Vec::new(),
        is_circular: false,
    };
    let mut longest = 0;
    for name in rules.keys() {
        longest = longest.max(walk.below(name, 0)?);
    }
    if walk.is_circular {
        return Ok(rules.values().map(weight).fold(0, u32::saturating_add));
    }
    Ok(longest)
}

struct Walk<'r, 't> {
    rules: &'r Rules<'t>,
    known: BTreeMap<&'t str, u32>,
    path: Vec<&'t str>,
    is_circular: bool,
}

impl<'t> Walk<'_, 't> {
    /// The weight of the heaviest path that begins with a rule. Recurses no deeper than the limit allows,
    /// because each rule has a weight.
    fn below(&mut self, name: &'t str, above: u32) -> Result<u32, RulesError> {
        let Some(rule) = self.rules.get(name) else {
            return Ok(0);
        };
        if self.path.contains(&name) {
            self.is_circular = true;
            return Ok(0);
        }
        let own = weight(rule);
        let known = self.known.get(name).copied();
        if above.saturating_add(known.unwrap_or(own)) > MOST_TOGETHER {
            let first = self.path.first().unwrap_or(&name);
            return Err(RulesError::TooDeepTogether((*first).to_owned()));
        }
        if let Some(known) = known {
            return Ok(known);
        }
        self.path.push(name);
        let mut deepest = 0;
        for mention in &rule.mentions {
            deepest = deepest.max(self.below(mention, above.saturating_add(own))?);
        }
        self.path.pop();
        let total = own.saturating_add(deepest);
        self.known.insert(name, total);
        Ok(total)
    }
}

/// Refuses functions that can call themselves.
fn recursion(rules: &Rules<'_>) -> Result<(), RulesError> {
    for (name, rule) in rules.iter().filter(|(_, rule)| rule.is_function) {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut ahead: Vec<&str> = rule.mentions.iter().copied().collect();
        while let Some(next) = ahead.pop() {
            if next == *name {
                return Err(RulesError::Recursive((*name).to_owned()));
            }
            if let Some(rule) = rules.get(next).filter(|_| seen.insert(next)) {
                ahead.extend(rule.mentions.iter().copied());
            }
        }
    }
    Ok(())
}
