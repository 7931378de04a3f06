//! The statistics of reports against SciPy and statsmodels, on random tables.
//!
//! `cargo xtask test` installs these first. Newcombe's interval of pairs and the mid-p value, which they do not have, are
//! written a second time in `reference.py`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use ralph_gate_report::model::Interval;
use ralph_gate_report::statistics::{
    Exact, Random, fisher_exact, holm, mann_whitney, mann_whitney_exact, mcnemar, mean, newcombe,
    newcombe_paired, quantile, sample_ratio, wilcoxon, wilcoxon_exact, wilson,
};
use ralph_gate_tests::python::python;
use serde::Serialize;

const TABLES: usize = 1_000;

/// Two implementations of the same formula differ by less, relatively.
const TOLERANCE: f64 = 1e-9;

/// Below these both say zero: bounds of intervals are differences of numbers near 1, p values are sums and as exact when
/// they are tiny.
const NO_DISTANCE: f64 = 1e-14;
const NO_CHANCE: f64 = 1e-280;

/// What is not a p value.
const DISTANCES: [&str; 5] = ["mean", "newcombe", "newcombe_paired", "quantile", "wilson"];

/// What both sides are asked about.
#[derive(Debug, Serialize)]
struct Case {
    table: [u64; 4],
    after: Vec<f64>,
    before: Vec<f64>,
    pairs: Vec<(f64, f64)>,
    quantiles: [f64; 3],
    p: Vec<f64>,
    share: f64,
}

impl Case {
    fn random(random: &mut Random) -> Self {
        // A few runs, some, many; and margins that are zero now and then.
        let size = [6, 60, 1_000, 20_000][place(random, 4)];
        let mut table = [(); 4].map(|()| random.below(size));
        table[0] += 1;
        table[2] += 1;
        if random.below(10) == 0 {
            table[1] = 0;
        }
        if random.below(10) == 0 {
            table[3] = 0;
        }
        // Whole numbers, as iterations are, have many ties; costs have none.
        let whole = random.below(2) == 0;
        // Of a few whole numbers, most pairs are equal or differ by one.
        let most = [10.0, 3.0][place(random, 2)];
        let value = |random: &mut Random| {
            let value = most * random.unit() * random.unit();
            if whole { value.ceil() } else { value }
        };
        let (after, before) = (1 + place(random, 80), 1 + place(random, 80));
        let mut values = |count| (0..count).map(|_| value(random)).collect::<Vec<f64>>();
        let (after, before) = (values(after), values(before));
        let pairs = before.iter().copied().zip(after.iter().copied()).collect();
        let count = 1 + random.below(12);
        Self {
            table,
            after,
            before,
            pairs,
            quantiles: [0.5, 0.95, random.unit()],
            p: (0..count).map(|_| random.unit() * random.unit()).collect(),
            share: [0.5, 1.0 / 3.0, 0.9][place(random, 3)],
        }
    }

    fn answer(&self) -> BTreeMap<String, Vec<f64>> {
        let [a, b, c, d] = self.table;
        let bounds = |interval: Option<Interval>| {
            let interval = interval.unwrap();
            vec![interval.low, interval.high]
        };
        let mut sorted = self.after.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |p: &f64| quantile(&sorted, *p).unwrap();
        let exact = |found: Option<Exact>| {
            found.map_or_else(Vec::new, |found| vec![found.exact, found.mid_p])
        };
        let pairs = mcnemar(b, c);
        let answers = [
            ("wilson", bounds(wilson(a, a + b))),
            ("newcombe", bounds(newcombe((a, a + b), (c, c + d)))),
            ("newcombe_paired", bounds(newcombe_paired(a, b, c, d))),
            ("fisher_exact", vec![fisher_exact(a, b, c, d)]),
            ("mcnemar", vec![pairs.exact, pairs.mid_p]),
            ("quantile", self.quantiles.iter().map(at).collect()),
            ("mean", vec![mean(&self.after).unwrap()]),
            ("holm", holm(&self.p)),
            (
                "mann_whitney",
                vec![mann_whitney(&self.after, &self.before).unwrap().p],
            ),
            (
                "mann_whitney_exact",
                exact(mann_whitney_exact(&self.after, &self.before)),
            ),
            ("wilcoxon", vec![wilcoxon(&self.pairs).unwrap().p]),
            ("wilcoxon_exact", exact(wilcoxon_exact(&self.pairs))),
            ("sample_ratio", vec![sample_ratio(a, b, self.share)]),
        ];
        answers.map(|(name, found)| (name.to_owned(), found)).into()
    }
}

fn place(random: &mut Random, count: u64) -> usize {
    usize::try_from(random.below(count)).unwrap()
}

fn same(name: &str, found: f64, expected: f64) -> bool {
    apart(name, found, expected) <= TOLERANCE
}

/// How far apart, relatively.
fn apart(name: &str, found: f64, expected: f64) -> f64 {
    let nothing = if DISTANCES.contains(&name) {
        NO_DISTANCE
    } else {
        NO_CHANCE
    };
    let apart = (found - expected).abs();
    // Also what is not a number at all is further than nothing.
    if apart <= nothing {
        0.0
    } else {
        apart / expected.abs().max(found.abs())
    }
}

fn ask_python(cases: &[Case]) -> Vec<BTreeMap<String, Vec<f64>>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("statistics/reference.py");
    let mut child = Command::new(python("statistics"))
        .arg(script)
        .env_remove("PYTHONPATH")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = serde_json::to_vec(cases).unwrap();
    let writer = thread::spawn(move || stdin.write_all(&text));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "python: {}", output.status);
    writer.join().unwrap().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_thousand_random_tables_say_the_same_in_scipy_and_statsmodels() {
    let mut random = Random::new(20_260_117);
    let cases: Vec<Case> = (0..TABLES).map(|_| Case::random(&mut random)).collect();
    let references = ask_python(&cases);
    assert_eq!(references.len(), TABLES);
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    let mut differences = Vec::new();
    let mut worst: BTreeMap<&str, f64> = BTreeMap::new();
    for (case, reference) in cases.iter().zip(&references) {
        let answers = case.answer();
        let names: Vec<&String> = answers.keys().collect();
        assert_eq!(names, reference.keys().collect::<Vec<_>>());
        for ((name, found), expected) in answers.iter().zip(reference.values()) {
            assert_eq!(found.len(), expected.len(), "{name}");
            let name = reference.get_key_value(name).unwrap().0.as_str();
            *compared.entry(name).or_default() += 1;
            for (one, other) in found.iter().zip(expected) {
                let so_far = worst.entry(name).or_default();
                *so_far = so_far.max(apart(name, *one, *other));
                if !same(name, *one, *other) {
                    differences.push(format!("{name}: {one:?}, not {other:?}, of {case:?}"));
                }
            }
        }
    }
    for (name, count) in &compared {
        println!(
            "{name:<16} {count} tables, at most {:.1e} apart",
            worst[name]
        );
        assert_eq!(*count, TABLES);
    }
    assert_eq!(compared.len(), 13);
    let exact = |name: &str| references.iter().filter(|it| !it[name].is_empty()).count();
    // Tables that are too large for the exact distribution have none, on both sides.
    assert!(exact("wilcoxon_exact") == TABLES && exact("mann_whitney_exact") > TABLES / 5);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_difference_in_the_eighth_digit_is_noticed() {
    assert!(same("wilson", 0.123_456_789_012, 0.123_456_789_013));
    assert!(!same("wilson", 0.123_456_78, 0.123_456_79));
    assert!(same("wilson", 0.0, 1e-17));
    assert!(!same("fisher_exact", 1e-99, 1.000_000_1e-99));
    assert!(!same("fisher_exact", 0.0, 1e-99));
    assert!(!same("fisher_exact", f64::NAN, 0.5));
}
