//! `prd_all_pass`: every story of the checklist passes, and is proven by checks that ran for this iteration.

use super::Finding;
use super::stories::{Stories, Unproven};
use crate::engine::PrdItem;

/// How many stories are named.
const NAMED: usize = 10;

pub(super) fn look(stories: Result<Option<&Stories>, &str>) -> Finding {
    let stories = match stories {
        Ok(Some(stories)) => stories,
        Ok(None) => {
            return Finding::fail("there is no checklist; name one as `prd` in [memory]");
        }
        Err(reason) => return Finding::fail(format!("the checklist can't be read: {reason}")),
    };
    let items = &stories.prd.items;
    if items.is_empty() {
        return Finding::fail("the checklist has no story");
    }
    let open: Vec<String> = items.iter().filter(|item| !item.passes).map(name).collect();
    if open.is_empty() {
        return Finding::pass(format!("all {} stories pass", items.len()));
    }
    Finding::fail(format!(
        "{} of {} stories don't pass: {}{}",
        open.len(),
        items.len(),
        listed(&open),
        taken_back(&stories.unproven)
    ))
}

/// What became of marks without proof, and how a story is proven.
fn taken_back(unproven: &[Unproven]) -> String {
    let Some(first) = unproven.first() else {
        return String::new();
    };
    let ids: Vec<String> = unproven
        .iter()
        .map(|unproven| unproven.id.clone())
        .collect();
    let remedy = match first.proofs.as_slice() {
        [] => "no check proves it; an operator must name one in `proofs`".to_owned(),
        proofs => format!(
            "a mark counts when these pass in the same iteration: {}; then set `passes` again",
            proofs.join(", ")
        ),
    };
    format!(
        ". Marked without proof, and reset: {} ({}); {remedy}",
        listed(&ids),
        first.reason
    )
}

fn listed(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > NAMED {
        text.push_str(&format!(" and {} more", names.len() - NAMED));
    }
    text
}

fn name(item: &PrdItem) -> String {
    match item.title.as_str() {
        "" => item.id.clone(),
        title => format!(
            "{} ({})",
            item.id,
            title.chars().take(60).collect::<String>()
        ),
    }
}
