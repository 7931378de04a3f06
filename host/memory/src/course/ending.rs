//! Why a loop ended, in words for a person. The codes are in the JSON.

use ralph_gate_types::{StopReason, Verdict};

/// `1 iteration`, `3 iterations`
pub fn iterations(count: u32) -> String {
    match count {
        1 => "1 iteration".to_owned(),
        count => format!("{count} iterations"),
    }
}

/// Why a loop stopped, as far as the reason and its detail say it.
pub fn words(reason: StopReason, detail: Option<&str>, iteration: u32) -> String {
    let count = iterations(iteration);
    match reason {
        StopReason::Completed => "completed".to_owned(),
        StopReason::MaxIters => format!("limit of {count} reached"),
        StopReason::ContextCanceled => format!("canceled after {count}"),
        StopReason::Error => format!("the agent reported an error in iteration {iteration}"),
        StopReason::Blocked if detail == Some("max_consecutive_failures") => {
            format!("the agent failed again and again, last in iteration {iteration}")
        }
        StopReason::Blocked => {
            format!("the agent reported that it is blocked in iteration {iteration}")
        }
        StopReason::NoProgress => format!("no progress in {count}"),
        StopReason::BudgetExceeded => match detail.and_then(budget_name) {
            Some(name) => format!("the {name} is used up"),
            None => "a budget is used up".to_owned(),
        },
    }
}

/// Why a verdict ended its loop, in words. A loop that was resumed may be beyond its limit of iterations.
pub fn why(verdict: &Verdict, reason: StopReason, iteration: u32) -> String {
    let limit = verdict.counters.guardrails.iter();
    let limit = limit
        .filter(|it| it.name == "loop_max_iters")
        .find_map(|it| it.limit.parse::<u32>().ok());
    match limit {
        Some(limit) if reason == StopReason::MaxIters && limit < iteration => {
            let limit = iterations(limit);
            format!("limit of {limit} reached, in iteration {iteration}")
        }
        _ => words(reason, verdict.detail.as_deref(), iteration),
    }
}

/// What people call a budget.
fn budget_name(field: &str) -> Option<&'static str> {
    match field {
        "cost_budget_usd" => Some("cost budget"),
        "max_tool_calls" => Some("budget of tool calls"),
        "max_tokens" => Some("token budget"),
        "max_duration_ms" => Some("time"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reason_is_told_by_its_code() {
        for reason in [
            StopReason::Completed,
            StopReason::ContextCanceled,
            StopReason::BudgetExceeded,
            StopReason::MaxIters,
            StopReason::NoProgress,
            StopReason::Blocked,
            StopReason::Error,
        ] {
            let text = words(reason, None, 3);
            assert!(!text.contains('_') && !text.is_empty(), "{text}");
        }
        assert_eq!(
            words(StopReason::MaxIters, None, 3),
            "limit of 3 iterations reached"
        );
        assert_eq!(
            words(StopReason::BudgetExceeded, Some("cost_budget_usd"), 3),
            "the cost budget is used up"
        );
    }
}
