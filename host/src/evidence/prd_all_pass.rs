//! `prd_all_pass`: every story of the checklist passes, and is proven by checks that ran for this iteration.

use super::Finding;
use crate::engine::{Prd, PrdItem};

/// How many stories are named.
const NAMED: usize = 10;

pub(super) fn look(prd: Result<Option<&Prd>, &str>) -> Finding {
    let prd = match prd {
        Ok(Some(prd)) => prd,
        Ok(None) => {
            return Finding::fail("there is no checklist; name one as `prd` in [memory]");
        }
        Err(reason) => return Finding::fail(format!("the checklist can't be read: {reason}")),
    };
    if prd.items.is_empty() {
        return Finding::fail("the checklist has no story");
    }
    let open: Vec<String> = prd
        .items
        .iter()
        .filter(|item| !item.passes)
        .map(name)
        .collect();
    if open.is_empty() {
        return Finding::pass(format!("all {} stories pass", prd.items.len()));
    }
    let mut named = open
        .iter()
        .take(NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if open.len() > NAMED {
        named.push_str(&format!(" and {} more", open.len() - NAMED));
    }
    Finding::fail(format!(
        "{} of {} stories don't pass: {named}",
        open.len(),
        prd.items.len()
    ))
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
