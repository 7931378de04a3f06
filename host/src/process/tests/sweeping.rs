//! What concerns all children of a process, and so is played by a process of its own.

use std::process::{Command, Stdio};

use super::kit::{Killed, Scene};

fn play(role: &str) {
    let scene = Scene::new();
    let mut played = Killed(scene.role(role).spawn().unwrap());
    assert!(played.0.wait().unwrap().success());
    scene.assert_dead(0);
}

#[test]
fn orphans_that_nothing_marks_are_swept_and_spared_processes_are_not() {
    play("sweep");
}

#[test]
fn without_a_claim_orphans_are_found_by_their_mark() {
    play("unclaimed");
}

#[test]
fn a_process_that_flees_from_one_to_the_next_is_caught() {
    play("fleeing");
}

#[test]
fn children_are_seen_to_end_although_whoever_started_this_process_made_it_ignore_that() {
    let scene = Scene::new();
    let role = scene.role("sweep");
    let mut deaf = Command::new("env");
    deaf.arg("--ignore-signal=CHLD")
        .arg(role.get_program())
        .args(role.get_args())
        .envs(
            role.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdout(Stdio::null());
    let mut played = Killed(deaf.spawn().unwrap());
    assert!(played.0.wait().unwrap().success());
}
