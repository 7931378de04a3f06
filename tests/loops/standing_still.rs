//! Agents that keep busy without getting anywhere.

use crate::harness::Workplace;
use crate::kit::{append, delete, print, promise, simple, write};

#[test]
fn equal_iterations_in_a_row_stop_the_loop() {
    let workplace = Workplace::new(&simple("no_progress_limit = 3"), &[]);
    let outcome = workplace.run(&[vec![promise()]]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 3);
}

#[test]
fn other_words_about_the_same_work_are_no_progress() {
    let workplace = Workplace::new(&simple("no_progress_limit = 3"), &[]);
    let outcome = workplace.run(&[
        vec![print("I looked around.")],
        vec![print("I thought about it.")],
        vec![print("Almost there!")],
    ]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 3);
}

#[test]
fn going_back_and_forth_stops_the_loop() {
    let workplace = Workplace::new(&simple("no_progress_limit = 2"), &[("a.txt", "tabs\n")]);
    let spaces = vec![write("a.txt", "spaces\n"), promise()];
    let tabs = vec![write("a.txt", "tabs\n"), promise()];
    let outcome = workplace.run(&[spaces.clone(), tabs.clone(), spaces, tabs]);
    outcome.stopped("no_progress", Some("oscillation"), 4);
}

#[test]
fn work_that_makes_no_check_pass_stops_the_loop_at_a_plateau() {
    let workplace = Workplace::new(&simple("plateau_limit = 2"), &[]);
    let outcome = workplace.run(&[vec![append("a.txt", "more and more\n"), promise()]]);
    outcome.stopped("no_progress", Some("plateau_limit"), 3);
}

#[test]
fn cosmetic_changes_are_no_progress() {
    let workplace = Workplace::new(
        &simple("no_progress_limit = 4"),
        &[("plan.yaml", "a: 1\nb: [x, y]\n")],
    );
    let outcome = workplace.run(&[
        vec![
            write("notes.txt", "updated 2026-01-01T10:00:00Z\nready\n"),
            write("plan.yaml", "b: [x, y]\na: 1\nc: 2\n"),
            promise(),
        ],
        vec![
            write("notes.txt", "updated 2026-01-01T10:07:13Z   \nready\n"),
            write("plan.yaml", "# better order\nc: 2\na: 1\nb: [x, y]\n"),
            promise(),
        ],
        vec![
            write("notes.txt", "updated 2026-01-02T23:59:59Z\nready \t \n"),
            write("plan.yaml", "a:   1\nb:\n  - x\n  - y\nc: 2 # still\n"),
            promise(),
        ],
        vec![
            write("notes.txt", "updated 2026-02-01T00:00:00Z\r\nready\r\n"),
            write("plan.yaml", "{c: 2, a: 1, b: [x, y]}\n"),
            promise(),
        ],
    ]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 4);
}

#[test]
fn commits_of_the_same_work_are_no_progress() {
    use ralph_gate_tests::agent_script::Step;
    let workplace = Workplace::new(&simple("no_progress_limit = 3"), &[]);
    let outcome = workplace.run(&[
        vec![write("a.txt", "work\n"), Step::Commit, promise()],
        vec![
            delete("a.txt"),
            Step::Commit,
            write("a.txt", "work\n"),
            Step::Commit,
            promise(),
        ],
    ]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 3);
}

#[test]
fn real_changes_are_progress() {
    let workplace = Workplace::new(&simple("no_progress_limit = 2\nloop_max_iters = 5"), &[]);
    let outcome = workplace.run(&[vec![append("a.txt", "more and more\n"), promise()]]);
    outcome.stopped("max_iters", None, 5);
}

/// A workplace that is in no repository.
fn outside_git(terms: &str) -> Workplace {
    let workplace = Workplace::new(&simple(terms), &[("src/a.txt", "a\n")]);
    std::fs::remove_dir_all(workplace.work().join(".git")).unwrap();
    workplace
}

#[test]
fn outside_git_an_agent_that_changes_nothing_stands_still_whatever_it_says() {
    let workplace = outside_git("no_progress_limit = 3");
    let outcome = workplace.run(&[
        vec![print("I looked around.")],
        vec![print("I thought about it.")],
        vec![print("Almost there!")],
    ]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 3);
}

#[test]
fn outside_git_a_silent_agent_stands_still() {
    let workplace = outside_git("no_progress_limit = 2");
    let outcome = workplace.run(&[vec![]]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 2);
}

#[test]
fn outside_git_changed_files_are_progress_and_what_tools_make_again_is_not() {
    let workplace = outside_git("no_progress_limit = 2\nloop_max_iters = 4");
    let outcome = workplace.run(&[vec![append("src/a.txt", "more and more\n")]]);
    outcome.stopped("max_iters", None, 4);
    let workplace = outside_git("no_progress_limit = 2");
    let outcome = workplace.run(&[vec![write("node_modules/x.js", "{iteration}\n")]]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 2);
}

#[test]
fn outside_git_a_silent_agent_in_a_large_folder_stands_still() {
    let workplace = outside_git("no_progress_limit = 2\nloop_max_iters = 4");
    for folder in 0..21 {
        let folder = workplace.work().join(format!("data/{folder}"));
        std::fs::create_dir_all(&folder).unwrap();
        for file in 0..1_000 {
            std::fs::File::create(folder.join(file.to_string())).unwrap();
        }
    }
    let outcome = workplace.run(&[vec![]]);
    outcome.stopped("no_progress", Some("no_progress_limit"), 2);
    // Behind all that are read.
    std::fs::remove_dir_all(workplace.memory().unwrap()).unwrap();
    let outcome = workplace.run(&[vec![append("zzz.txt", "more and more\n")]]);
    outcome.stopped("max_iters", None, 4);
}
