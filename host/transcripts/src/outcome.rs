//! What a test command said: its exit status where that is told, otherwise what it printed.

use crate::command::{Means, Plan};
use crate::printed::{self, Printed};
use crate::run::Outcome;

/// What a client notes about the end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    /// The command ended with it.
    Exit(i64),
    /// The command ended, and the client does not say how.
    NotTold,
    /// It was not seen to end.
    Unfinished(&'static str),
}

/// What a test command said, and how that is known.
pub(crate) fn judge(plan: Plan, status: &Status, text: &str) -> (Outcome, String) {
    let printed = printed::read(text);
    match status {
        Status::Unfinished(reason) => (Outcome::Unknown, (*reason).to_owned()),
        Status::Exit(0) if plan.zero == Means::Tests => ended_well(printed),
        Status::Exit(code) if *code != 0 && plan.other == Means::Tests => {
            ended_badly(*code, printed, text)
        }
        _ => by_print(plan, printed),
    }
}

/// What a command said that is not known to run tests. None: its output does not end in a summary of tests.
pub(crate) fn judge_unknown(plan: Plan, status: &Status, text: &str) -> Option<(Outcome, String)> {
    if matches!(status, Status::Unfinished(_)) {
        return None;
    }
    let printed = printed::read_end(text)?;
    Some(match status {
        Status::Exit(0) if plan.zero == Means::Tests => ended_well(printed),
        Status::Exit(code) if *code != 0 && plan.other == Means::Tests => match printed {
            Printed::Failed(line) => (Outcome::Fail, format!("exit code {code}; {line}")),
            Printed::NoTests(line) => (Outcome::Unknown, format!("no test ran: {line}")),
            Printed::Passed(line) => {
                let detail = format!("exit code {code}, but it printed a pass: {line}");
                (Outcome::Unknown, detail)
            }
            Printed::Mixed | Printed::Nothing => (Outcome::Unknown, format!("exit code {code}")),
        },
        _ => by_print(plan, printed),
    })
}

/// Why nothing is known of a command that seems to run tests.
pub(crate) fn unknown_runner(status: &Status) -> (Outcome, String) {
    let detail = match status {
        Status::Unfinished(reason) => (*reason).to_owned(),
        _ => "its runner is not known, and it printed no summary that is".to_owned(),
    };
    (Outcome::Unknown, detail)
}

fn ended_well(printed: Printed) -> (Outcome, String) {
    match printed {
        Printed::Nothing => (Outcome::Pass, "exit code 0".to_owned()),
        Printed::Passed(line) => (Outcome::Pass, format!("exit code 0; {line}")),
        Printed::NoTests(line) => (Outcome::Unknown, format!("no test ran: {line}")),
        Printed::Failed(line) => {
            let detail = format!("exit code 0, but it printed a failure: {line}");
            (Outcome::Unknown, detail)
        }
        Printed::Mixed => {
            let detail = "exit code 0, but it printed a failure".to_owned();
            (Outcome::Unknown, detail)
        }
    }
}

fn ended_badly(code: i64, printed: Printed, text: &str) -> (Outcome, String) {
    let unknown = |what: &str| (Outcome::Unknown, format!("exit code {code}: {what}"));
    match code {
        124 => return unknown("it ran out of time"),
        126 | 127 => return unknown("it could not be started"),
        code if !(0..=128).contains(&code) => return unknown("it was killed"),
        _ => {}
    }
    let is_lost = text.lines().take(5).any(|line| {
        line.contains("cd: ") && (line.contains("No such file") || line.contains("not a directory"))
    });
    if is_lost {
        return unknown("its folder is not there");
    }
    match printed {
        Printed::NoTests(line) => (Outcome::Unknown, format!("no test ran: {line}")),
        Printed::Failed(line) => (Outcome::Fail, format!("exit code {code}; {line}")),
        Printed::Nothing | Printed::Passed(_) | Printed::Mixed => {
            (Outcome::Fail, format!("exit code {code}"))
        }
    }
}

fn by_print(plan: Plan, printed: Printed) -> (Outcome, String) {
    match printed {
        Printed::Failed(line) => (Outcome::Fail, format!("printed: {line}")),
        Printed::Passed(line) if plan.shows_all => (Outcome::Pass, format!("printed: {line}")),
        Printed::Passed(line) => {
            let detail = format!("only a part of its output is shown: {line}");
            (Outcome::Unknown, detail)
        }
        Printed::NoTests(line) => (Outcome::Unknown, format!("no test is shown: {line}")),
        Printed::Mixed => (
            Outcome::Unknown,
            "it printed both a pass and a failure".to_owned(),
        ),
        Printed::Nothing => {
            let detail = "neither its exit code nor a summary is told".to_owned();
            (Outcome::Unknown, detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, of};

    fn told(command: &str, status: &Status, text: &str) -> (Outcome, String) {
        let Command::Test(plan) = of(command) else {
            panic!("{command} runs tests");
        };
        judge(plan, status, text)
    }

    #[test]
    fn the_exit_code_decides_where_it_is_that_of_the_tests() {
        use Outcome::{Fail, Pass, Unknown};
        for (command, code, text, outcome) in [
            ("make test", 0, "", Pass),
            ("make test", 2, "", Fail),
            ("cargo test", 101, "error: could not compile", Fail),
            (
                "cargo test",
                0,
                "test result: ok. 0 passed; 0 failed",
                Unknown,
            ),
            ("pytest", 0, "1 failed in 0.1s", Unknown),
            ("pytest", 5, "no tests ran in 0.1s", Unknown),
            ("timeout 9 pytest", 124, "", Unknown),
            ("pytest", 127, "sh: pytest: not found", Unknown),
            ("pytest", 137, "", Unknown),
            (
                "cd x && pytest",
                1,
                "bash: cd: x: No such file or directory",
                Unknown,
            ),
            ("cd x && pytest", 1, "E assert", Fail),
        ] {
            let told = told(command, &Status::Exit(code), text);
            assert_eq!(told.0, outcome, "{command} {code} {text}: {}", told.1);
        }
    }

    #[test]
    fn what_was_printed_decides_where_the_exit_code_is_anothers() {
        use Outcome::{Fail, Pass, Unknown};
        for (command, text, outcome) in [
            ("pytest | tail -3", "3 passed in 0.1s", Pass),
            ("pytest | tail -3", "1 failed in 0.1s", Fail),
            ("pytest | grep passed", "3 passed in 0.1s", Unknown),
            ("pytest | grep failed", "1 failed in 0.1s", Fail),
            ("pytest; echo ok", "ok", Unknown),
            ("cargo build && pytest", "error: nothing", Unknown),
        ] {
            let code = i64::from(command.contains("&&"));
            let told = told(command, &Status::Exit(code), text);
            assert_eq!(told.0, outcome, "{command} {text}: {}", told.1);
        }
    }

    #[test]
    fn a_command_that_was_not_seen_to_end_is_unknown_whatever_it_printed() {
        let told = told(
            "pytest",
            &Status::Unfinished("still running"),
            "1 failed in 0.1s",
        );
        assert_eq!(told, (Outcome::Unknown, "still running".to_owned()));
    }
}
