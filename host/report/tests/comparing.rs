//! What counts, and what follows.

use std::collections::BTreeMap;

use ralph_gate_report::compare::{
    CompareError, Options, RateMetric, Selection, Side, Thresholds, compare,
};
use ralph_gate_report::model::{Outcome, Rate, Report, Standing};
use ralph_gate_report::run::{Ending, Run, Source, Truth, Used};

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
    assert_eq!(counts(RateMetric::FalseComplete), [(1, 2), (0, 1)]);
    assert_eq!(counts(RateMetric::Handoff), [(1, 4), (1, 2)]);
    // Behind every count are its runs.
    assert_eq!(rate(&report, RateMetric::FalseComplete).0.runs, [1]);
    let missing = &report.missing[0];
    let expected = "1 run: ended as complete and were not audited";
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

/// The step of the gain, and the outcome.
fn decided(runs: Vec<Run>) -> (Standing, String, Outcome, String) {
    let decision = report(runs).decision;
    let step = decision.steps[0].clone();
    (
        step.standing,
        step.arithmetic,
        decision.outcome,
        decision.message,
    )
}

#[test]
fn the_false_complete_rate_is_over_audited_completions() {
    let mut runs = population(20, 8, 2, "0.50");
    // Runs that were stopped can't be false, whatever an audit of them says.
    for arm in ["a", "b"] {
        for truth in [Truth::Unknown, Truth::Incomplete, Truth::Complete] {
            runs.extend((0..100).map(|_| run(arm, Ending::MaxIters, truth)));
        }
    }
    let report = report(runs);
    let (before, after) = rate(&report, RateMetric::FalseComplete);
    assert_eq!((before.count, before.of), (8, 20));
    assert_eq!((after.count, after.of), (2, 20));
    assert_eq!((before.bounds, before.unaudited.len()), (None, 0));
}

#[test]
fn runs_that_can_not_be_false_decide_nothing() {
    // Every second completion before is false. After, nothing completes, or nothing that completed was audited.
    for (ending, truth, expected) in [
        (
            Ending::MaxIters,
            Truth::Incomplete,
            "there is no run after of which it is known",
        ),
        (
            Ending::Completed,
            Truth::Unknown,
            "no completion after was audited",
        ),
    ] {
        let mut runs = population(400, 200, 0, "0.50");
        for run in runs.iter_mut().skip(400) {
            (run.ending, run.truth) = (ending, truth);
        }
        let (standing, arithmetic, outcome, message) = decided(runs);
        assert_eq!(
            (standing, outcome),
            (Standing::Open, Outcome::NotEnoughData)
        );
        assert!(arithmetic.contains(expected), "{arithmetic}");
        let asks = message.contains("audit the 400 completions of unknown truth");
        assert_eq!(asks, truth == Truth::Unknown, "{message}");
    }
}

#[test]
fn completions_of_unknown_truth_give_bounds() {
    let mut runs = population(20, 8, 2, "0.50");
    for run in runs.iter_mut().skip(30) {
        run.truth = Truth::Unknown;
    }
    let report = report(runs);
    let (before, after) = rate(&report, RateMetric::FalseComplete);
    assert_eq!((after.count, after.of, after.unaudited.len()), (2, 10, 10));
    let bounds = after.bounds.unwrap();
    assert!((bounds.low - 0.1).abs() < 1e-12 && (bounds.high - 0.6).abs() < 1e-12);
    assert_eq!(before.bounds, None);
    let row = &report.overall.rates[2];
    let bounds = row.difference.as_ref().unwrap().bounds.unwrap();
    assert!((bounds.low + 0.3).abs() < 1e-12 && (bounds.high - 0.2).abs() < 1e-12);
    let note = "False complete, after: 10 completions were not audited; with them, the rate is between 10.0 % and 60.0 %.";
    let table = ralph_gate_report::render::table(&report, &ralph_gate_report::render::Plain, 200);
    assert!(table.contains(note), "{table}");
    assert!(ralph_gate_report::render::html(&report).contains(note));
    assert!(ralph_gate_report::render::markdown(&report).contains("between 10.0 % and 60.0 %"));
}

#[test]
fn completions_of_unknown_truth_decide_nothing_unless_either_truth_decides_the_same() {
    // Of what was audited, 40 % are false before and 4 % after.
    let with_unknown = |unknown: usize| {
        let mut runs = population(500, 200, 20, "0.50");
        runs.extend((0..unknown).map(|_| run("b", Ending::Completed, Truth::Unknown)));
        decided(runs)
    };
    let (standing, arithmetic, outcome, _) = with_unknown(20);
    assert_eq!(
        (standing, outcome),
        (Standing::Met, Outcome::DefaultOn),
        "{arithmetic}"
    );
    assert!(
        arithmetic.contains("if the completions of unknown truth were audited"),
        "{arithmetic}"
    );
    let (standing, arithmetic, outcome, message) = with_unknown(500);
    assert_eq!(
        (standing, outcome),
        (Standing::Open, Outcome::NotEnoughData),
        "{arithmetic}"
    );
    assert!(
        message.contains("audit the 500 completions of unknown truth"),
        "{message}"
    );
    // The same of a condition that is missed.
    let mut runs = population(2_000, 400, 400, "0.50");
    assert_eq!(decided(runs.clone()).2, Outcome::KeepOptIn);
    runs.extend((0..1_000).map(|_| run("b", Ending::Completed, Truth::Unknown)));
    assert_eq!(decided(runs).0, Standing::Open);
}

#[test]
fn nobody_is_asked_to_audit_what_was_imported() {
    let mut runs = population(500, 200, 20, "0.50");
    runs.extend((0..500).map(|_| Run {
        source: Source::Import,
        ..run("b", Ending::Released, Truth::Unknown)
    }));
    let report = report(runs);
    let decision = &report.decision;
    assert_eq!(decision.outcome, Outcome::NotEnoughData);
    assert!(!decision.message.contains("audit"), "{}", decision.message);
    assert_eq!(decision.needed_per_arm, None);
    let missing = &report.missing[0];
    assert!(
        missing.message.contains("their transcripts do not tell"),
        "{missing:?}"
    );
    assert_eq!(missing.runs.len(), 500);
}

#[test]
fn the_sample_size_counts_runs_and_not_only_completions() {
    let few = report(population(12, 4, 1, "0.50"))
        .decision
        .needed_per_arm
        .unwrap();
    let mut runs = population(12, 4, 1, "0.50");
    for arm in ["a", "b"] {
        runs.extend((0..24).map(|_| run(arm, Ending::MaxIters, Truth::Unknown)));
    }
    let decision = report(runs).decision;
    assert_eq!(decision.needed_per_arm, Some(3 * few), "{decision:?}");
}

#[test]
fn twelve_of_twelve_pairs_at_one_more_iteration_are_worse_and_not_unclear() {
    for spread in [0, 3] {
        let mut runs = population(12, 0, 0, "0.50");
        for (index, run) in (0_u32..).zip(&mut runs) {
            let (task, is_after) = (index % 12, index / 12);
            run.task = Some(format!("t{task}"));
            run.used.iterations = Some(2 + task % (spread + 1) + is_after);
        }
        let report = report(runs);
        assert_eq!(report.pairing.pairs, 12);
        let row = &report.overall.amounts[0];
        let found = row.median_difference.as_ref().unwrap();
        assert_eq!(found.test.as_deref(), Some("Wilcoxon, signed ranks, mid-p"));
        assert!(found.p_adjusted.unwrap() < 0.01, "{found:?}");
        let table =
            ralph_gate_report::render::table(&report, &ralph_gate_report::render::Plain, 200);
        let line = table
            .lines()
            .find(|line| line.contains("Iterations, median"))
            .unwrap();
        assert!(line.contains("worse"), "{line}");
    }
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
    let row = &report.overall.rates[1];
    let difference = row.difference.as_ref().unwrap();
    assert_eq!(difference.method, "Newcombe, paired");
    assert_eq!(difference.test.as_deref(), Some("McNemar, mid-p"));
    assert!((difference.estimate - 0.35).abs() < 1e-12);
    // Each arm has its own completions.
    let row = &report.overall.rates[2];
    let difference = row.difference.as_ref().unwrap();
    assert_eq!(difference.method, "Newcombe");
    assert_eq!(difference.test.as_deref(), Some("Fisher, exact"));
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
        "the arm b has no run; there are 2 runs, with arm = a or c; source = log"
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
