//! What counts, and what follows.

use std::collections::BTreeMap;

use ralph_gate_report::compare::{
    CompareError, Options, RateMetric, Selection, Side, Thresholds, compare,
};
use ralph_gate_report::model::{Outcome, Rate, Report, Standing};
use ralph_gate_report::run::{Ending, Run, Truth, Used};

fn run(arm: &str, ending: Ending, truth: Truth) -> Run {
    Run {
        labels: BTreeMap::from([("arm".to_owned(), arm.to_owned())]).into(),
        ending,
        truth,
        used: Used {
            iterations: Some(2),
            elapsed_ms: Some(1000),
            tool_calls: Some(3),
            tokens: None,
            cost_usd: Some("0.50".to_owned()),
        },
        ..Run::default()
    }
}

fn side(runs: &[Run], arm: &str) -> Side {
    let selection: Selection = format!("arm={arm}").parse().unwrap();
    Side {
        name: arm.to_owned(),
        runs: selection.places(runs),
    }
}

fn try_to_report(mut runs: Vec<Run>, options: &Options) -> Result<Report, CompareError> {
    for (index, run) in runs.iter_mut().enumerate() {
        run.id = format!("r{index}");
    }
    let (before, after) = (side(&runs, "a"), side(&runs, "b"));
    compare(runs, before, after, &[], options)
}

fn report(runs: Vec<Run>) -> Report {
    try_to_report(runs, &Options::default()).unwrap()
}

fn rate(report: &Report, metric: RateMetric) -> (&Rate, &Rate) {
    let mut rows = report.overall.rates.iter();
    let row = rows.find(|row| row.metric == metric.id()).unwrap();
    (&row.before, &row.after)
}

#[test]
fn every_run_counts_and_what_is_not_known_is_left_out_of_that_rate_alone() {
    let report = report(vec![
        run("a", Ending::Released, Truth::Complete),
        run("a", Ending::Released, Truth::Incomplete),
        run("a", Ending::Released, Truth::Unknown),
        run("a", Ending::Crashed, Truth::Unknown),
        run("a", Ending::Unknown, Truth::Unknown),
        run("b", Ending::Completed, Truth::Complete),
        run("b", Ending::MaxIters, Truth::Incomplete),
    ]);
    let counts = |metric| {
        let (before, after) = rate(&report, metric);
        [(before.count, before.of), (after.count, after.of)]
    };
    assert_eq!(counts(RateMetric::Completion), [(3, 4), (1, 2)]);
    assert_eq!(counts(RateMetric::VerifiedCompletion), [(1, 3), (1, 2)]);
    assert_eq!(counts(RateMetric::FalseComplete), [(1, 3), (0, 2)]);
    assert_eq!(counts(RateMetric::FalseShare), [(1, 2), (0, 1)]);
    assert_eq!(counts(RateMetric::Handoff), [(1, 4), (1, 2)]);
    // Behind every count are its runs.
    assert_eq!(rate(&report, RateMetric::FalseComplete).0.runs, [1]);
    let missing = &report.missing[0];
    let expected = "1 run: ended as complete, and nobody looked";
    assert!(missing.message.starts_with(expected), "{missing:?}");
    assert_eq!(missing.runs, [2]);
}

#[test]
fn an_override_is_a_completion_and_a_handoff() {
    let mut overridden = run("b", Ending::Completed, Truth::Unknown);
    overridden.overridden = true;
    let report = report(vec![
        run("a", Ending::Released, Truth::Complete),
        overridden,
    ]);
    assert_eq!(rate(&report, RateMetric::Completion).1.count, 1);
    assert_eq!(rate(&report, RateMetric::Handoff).1.count, 1);
}

/// So many runs of each arm, of which so many are false.
fn population(of: usize, false_before: usize, false_after: usize, cost_after: &str) -> Vec<Run> {
    let arm = |name: &'static str, wrong: usize, cost: String| {
        (0..of).map(move |index| {
            let truth = if index < wrong {
                Truth::Incomplete
            } else {
                Truth::Complete
            };
            let mut run = run(name, Ending::Completed, truth);
            run.used.cost_usd = Some(cost.clone());
            run
        })
    };
    let before = arm("a", false_before, "0.50".to_owned());
    before
        .chain(arm("b", false_after, cost_after.to_owned()))
        .collect()
}

#[test]
fn the_gate_goes_on_by_default_only_where_both_conditions_are_sure() {
    let decided = |runs| report(runs).decision;
    let good = decided(population(200, 80, 10, "0.60"));
    assert_eq!(good.outcome, Outcome::DefaultOn, "{good:?}");
    assert_eq!(good.needed_per_arm, None);
    let dear = decided(population(200, 80, 10, "0.90"));
    assert_eq!(dear.outcome, Outcome::KeepOptIn, "{dear:?}");
    assert_eq!(dear.steps[1].standing, Standing::NotMet);
    let useless = decided(population(2000, 400, 400, "0.50"));
    assert_eq!(useless.outcome, Outcome::KeepOptIn, "{useless:?}");
    let few = decided(population(12, 4, 1, "0.50"));
    assert_eq!(few.outcome, Outcome::NotEnoughData, "{few:?}");
    let needed = few.needed_per_arm.unwrap();
    assert!(needed > 12, "{needed}");
    assert!(few.message.contains(&needed.to_string()), "{}", few.message);
}

#[test]
fn the_sample_size_that_is_named_settles_it() {
    let few = report(population(12, 4, 1, "0.50")).decision;
    let needed = usize::try_from(few.needed_per_arm.unwrap()).unwrap();
    let like = |count: usize| (count * needed + 6) / 12;
    let enough = report(population(needed, like(4), like(1), "0.50")).decision;
    assert_eq!(enough.steps[0].standing, Standing::Met, "{enough:?}");
}

#[test]
fn where_the_cost_is_open_its_size_is_named_and_not_that_of_the_gain() {
    let mut runs = population(60, 40, 2, "0.50");
    for (index, run) in runs.iter_mut().enumerate() {
        // Half as dear again on average, and widely spread.
        let cents = 10 + (index * 37) % 100 + if index < 60 { 0 } else { 25 };
        run.used.cost_usd = Some(format!("0.{cents:03}"));
    }
    let decision = report(runs).decision;
    assert_eq!(decision.steps[0].standing, Standing::Met, "{decision:?}");
    assert_eq!(decision.steps[1].standing, Standing::Open, "{decision:?}");
    assert!(decision.needed_per_arm.unwrap() > 60, "{decision:?}");
}

#[test]
fn thresholds_are_the_persons() {
    let options = Options {
        thresholds: Thresholds {
            min_reduction: 0.5,
            max_cost_increase: 0.5,
        },
        ..Options::default()
    };
    let report = try_to_report(population(200, 80, 10, "0.60"), &options).unwrap();
    assert_eq!(report.decision.outcome, Outcome::KeepOptIn);
}

#[test]
fn where_money_is_not_known_tokens_stand_for_it() {
    let mut runs = population(50, 20, 2, "0.50");
    for run in &mut runs {
        run.used.cost_usd = None;
        run.used.tokens = Some(100);
    }
    let step = &report(runs).decision.steps[1];
    assert!(step.condition.contains("tokens"), "{step:?}");
    assert_eq!(step.standing, Standing::Met);
}

/// The same tasks in both arms.
fn paired() -> Vec<Run> {
    let mut runs = population(40, 16, 2, "0.50");
    for (index, run) in runs.iter_mut().enumerate() {
        run.task = Some(format!("t{:02}", index % 40));
    }
    runs
}

#[test]
fn the_same_task_in_both_arms_is_a_pair() {
    let report = report(paired());
    assert!(report.pairing.paired);
    assert_eq!(report.pairing.pairs, 40);
    let row = &report.overall.rates[2];
    let difference = row.difference.as_ref().unwrap();
    assert_eq!(difference.method, "Newcombe, paired");
    assert_eq!(difference.test.as_deref(), Some("McNemar, mid-p"));
    assert!((difference.estimate + 0.35).abs() < 1e-12);
    assert!(row.primary && difference.p_adjusted.is_none());
    let secondary = report.overall.rates[0].difference.as_ref().unwrap();
    assert!(secondary.p_adjusted >= secondary.p);
}

#[test]
fn a_task_that_was_run_twice_makes_no_pairs_and_a_lonely_run_does_no_harm() {
    let mut twice = paired();
    twice[1].task = twice[0].task.clone();
    let twice = report(twice).pairing;
    assert!(!twice.paired && twice.reason.contains("more than once"));
    let mut lonely = paired();
    lonely.pop();
    let lonely = report(lonely);
    assert_eq!((lonely.pairing.paired, lonely.pairing.pairs), (true, 39));
    let mut missing = lonely.missing.iter();
    let missing = missing.find(|it| it.message.contains("no partner"));
    assert_eq!(missing.unwrap().runs, [39]);
}

#[test]
fn arms_must_have_runs_and_none_in_common() {
    let runs = vec![
        run("a", Ending::Released, Truth::Complete),
        run("c", Ending::Released, Truth::Complete),
    ];
    let error = try_to_report(runs.clone(), &Options::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the arm b has no run; there are 2 runs, with arm = a or c"
    );
    let both = Side {
        name: "all".to_owned(),
        runs: vec![0, 1],
    };
    let a = side(&runs, "a");
    let error = compare(runs, a, both, &[], &Options::default());
    assert!(matches!(error, Err(CompareError::InBoth { .. })));
}

#[test]
fn a_crooked_division_of_an_experiment_decides_nothing() {
    let mut runs = population(200, 80, 10, "0.60");
    for run in &mut runs {
        run.labels.insert("experiment".to_owned(), "e".to_owned());
    }
    let even = report(runs.clone());
    assert!(even.sample_ratio.applies && !even.sample_ratio.suspicious);
    runs.truncate(300);
    let crooked = report(runs);
    assert!(
        crooked.sample_ratio.suspicious,
        "{:?}",
        crooked.sample_ratio
    );
    assert_eq!(crooked.decision.outcome, Outcome::NotEnoughData);
}

#[test]
fn classes_are_compared_by_themselves() {
    let mut runs = population(20, 8, 1, "0.50");
    for (index, run) in runs.iter_mut().enumerate() {
        run.task_class = (index % 2 == 0).then(|| "fix".into());
    }
    let options = Options {
        by_class: true,
        ..Options::default()
    };
    let report = try_to_report(runs, &options).unwrap();
    let classes: Vec<(&str, u64)> = report
        .classes
        .iter()
        .map(|class| (class.name.as_str(), class.comparison.rates[0].before.of))
        .collect();
    assert_eq!(classes, [("", 10), ("fix", 10)]);
}

#[test]
fn what_is_left_out_is_nowhere() {
    let options = Options {
        omit: ["latency_ms".to_owned(), "handoff_rate".to_owned()].into(),
        ..Options::default()
    };
    let report = try_to_report(population(20, 8, 1, "0.50"), &options).unwrap();
    let text = serde_json::to_string(&(&report.overall, &report.definitions)).unwrap();
    assert!(!text.contains("latency_ms") && !text.contains("handoff_rate"));
}

#[test]
fn too_few_runs_give_no_bound_and_say_how_many_are_needed() {
    let report = report(population(20, 8, 1, "0.50"));
    let iterations = &report.overall.amounts[0];
    assert!(iterations.before.median.interval.is_some());
    let p95 = &iterations.before.p95;
    assert_eq!((p95.interval, p95.needs), (None, Some(59)));
    let difference = iterations.p95_difference.as_ref().unwrap();
    assert!(difference.interval.is_none());
}

#[test]
fn iterations_are_distributed_over_bins_without_a_gap() {
    let mut runs = population(50, 0, 0, "0.50");
    for (index, run) in (0_u32..).zip(&mut runs) {
        run.used.iterations = Some(index);
    }
    let report = report(runs);
    let bins = &report.overall.iterations;
    let counted: u64 = bins.iter().map(|bin| bin.before + bin.after).sum();
    assert_eq!(counted, 100);
    let follow = |pair: &[ralph_gate_report::model::Bin]| pair[0].to + 1 == pair[1].from;
    assert!(bins.windows(2).all(follow), "{bins:?}");
}
