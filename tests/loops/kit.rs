//! Configurations and steps that many tests use.

use std::path::Path;

use ralph_gate_tests::agent_script::{Keeps, Step};

/// What an agent says that thinks it is done.
pub(crate) const PROMISE: &str = "All done.\n<promise>COMPLETE</promise>\n";

/// A loop that is complete when done.txt says so and the token is promised. `terms` are more fields of the contract.
pub(crate) fn simple(terms: &str) -> String {
    format!(
        r#"
[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["work"]
{terms}

[checks.work]
kind = "file"
path = "done.txt"
contains = "done"
"#
    )
}

/// A loop whose only check is a test program that prints TAP.
pub(crate) fn tested(terms: &str) -> String {
    format!(
        r#"
[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["tests"]
max_check_retries = 0
{terms}

[checks.tests]
kind = "tests_green"
argv = ["sh", "run-tests.sh"]
format = "tap"

[tripwires]
protected_paths = ["run-tests.sh"]
"#
    )
}

/// Runs each file in tests/ and prints TAP. A file whose first line says so is skipped.
pub(crate) const RUN_TESTS: &str = r#"
n=0 failed=0
for file in tests/*; do
    n=$((n + 1))
    if head -1 "$file" | grep -q skip; then echo "ok $n - $file # SKIP"
    elif sh "$file"; then echo "ok $n - $file"
    else echo "not ok $n - $file"; failed=1; fi
done
echo "1..$n"
exit $failed
"#;

/// A project with one test that passes and one that fails until done.txt is there.
pub(crate) const TESTS: &[(&str, &str)] = &[
    ("run-tests.sh", RUN_TESTS),
    ("tests/one.sh", "true\n"),
    ("tests/two.sh", "test -f done.txt\n"),
];

pub(crate) fn print(text: &str) -> Step {
    Step::Print(text.to_owned())
}

pub(crate) fn promise() -> Step {
    print(PROMISE)
}

pub(crate) fn write(path: impl AsRef<Path>, text: &str) -> Step {
    Step::Write {
        path: path.as_ref().to_owned(),
        text: text.to_owned(),
    }
}

pub(crate) fn append(path: impl AsRef<Path>, text: &str) -> Step {
    Step::Append {
        path: path.as_ref().to_owned(),
        text: text.to_owned(),
    }
}

pub(crate) fn replace(path: impl AsRef<Path>, from: &str, to: &str) -> Step {
    Step::Replace {
        path: path.as_ref().to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    }
}

pub(crate) fn delete(path: impl AsRef<Path>) -> Step {
    Step::Delete(path.as_ref().to_owned())
}

/// The work that is asked for.
pub(crate) fn work() -> Step {
    write("done.txt", "done\n")
}

/// Something that is different in each iteration, and is not what is asked for.
pub(crate) fn move_on() -> Step {
    // Letters, because numbers of some kinds are masked.
    append("notes.txt", "another thought\n")
}

pub(crate) fn detach(environment: Keeps, steps: &[Step]) -> Step {
    Step::Detach {
        steps: steps.to_vec(),
        environment,
    }
}

pub(crate) fn claude(answer: &str, cost_usd: &str, tool_calls: u32) -> Step {
    Step::Claude {
        answer: answer.to_owned(),
        cost_usd: cost_usd.to_owned(),
        tool_calls,
    }
}
