//! The guard and the runner, killed in many ways and at many moments.

use std::fs;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::time::Duration;

use rustix::process::{Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use super::kit::{Killed, Scene, pid, until};

/// A guard in a process group of its own, with its runner.
struct Host {
    scene: Scene,
    guard: Killed,
}

impl Host {
    fn start(role: &str) -> Self {
        let scene = Scene::new();
        let guard = Killed(scene.role(role).process_group(0).spawn().unwrap());
        Self { scene, guard }
    }

    fn runner(&self) -> u32 {
        self.scene.until_there("inner.pid");
        let id = fs::read_to_string(self.scene.folder.path().join("inner.pid")).unwrap();
        id.parse().unwrap()
    }

    fn signal_guard(&self, signal: Signal) {
        kill_process(pid(self.guard.0.id()), signal).unwrap();
    }

    /// The guard's exit code, or the negative number of the signal that killed it.
    fn end(&mut self) -> i32 {
        let status = self.guard.0.wait().unwrap();
        status.code().unwrap_or_else(|| -status.signal().unwrap())
    }

    /// Everything dies, without the loop having seen a program end.
    fn assert_killed(&self) {
        until("everything is dead", || self.scene.alive().is_empty());
        assert!(!self.scene.has("returned"));
    }
}

/// Moments from the very beginning until the tree has long been there.
fn moments() -> impl Iterator<Item = Duration> {
    (0..20).map(|round| Duration::from_millis(round * 4))
}

#[test]
fn killing_the_guard_kills_everything() {
    for (round, moment) in moments().chain(moments()).enumerate() {
        let mut host = Host::start("guard");
        if round % 2 == 0 {
            host.runner();
        }
        std::thread::sleep(moment);
        host.signal_guard(Signal::KILL);
        assert_eq!(host.end(), -9);
        host.assert_killed();
    }
    let mut host = Host::start("guard");
    host.scene.until_there("ready");
    host.signal_guard(Signal::KILL);
    assert_eq!(host.end(), -9);
    host.assert_killed();
    assert_eq!(host.scene.noted().count(), 4);
}

#[test]
fn killing_a_guard_whose_runner_is_stopped_kills_everything() {
    let mut host = Host::start("guard");
    host.scene.until_there("ready");
    kill_process(pid(host.runner()), Signal::STOP).unwrap();
    host.signal_guard(Signal::KILL);
    assert_eq!(host.end(), -9);
    host.assert_killed();
}

#[test]
fn killing_the_runner_kills_everything_and_exits_137() {
    for moment in moments() {
        let mut host = Host::start("guard");
        let runner = host.runner();
        std::thread::sleep(moment);
        kill_process(pid(runner), Signal::KILL).unwrap();
        assert_eq!(host.end(), 137);
        assert_eq!(host.scene.alive().len(), 0);
        host.assert_killed();
    }
}

#[test]
fn terminating_the_guard_lets_the_runner_end_as_it_likes() {
    for (signal, name) in [
        (Signal::TERM, "Terminate"),
        (Signal::HUP, "Hangup"),
        (Signal::INT, "Interrupt"),
    ] {
        let mut host = Host::start("guard");
        host.scene.until_there("ready");
        host.signal_guard(signal);
        assert_eq!(host.end(), 42);
        assert!(host.scene.has(&format!("got-{name}")));
        let returned = fs::read_to_string(host.scene.folder.path().join("returned")).unwrap();
        assert_eq!(returned, "Canceled");
        host.scene.assert_dead(4);
    }
}

#[test]
fn terminating_the_guard_at_any_moment_leaves_nothing() {
    for moment in moments() {
        let mut host = Host::start("guard");
        std::thread::sleep(moment);
        host.signal_guard(Signal::TERM);
        // Before either of them listens, it ends them as it ends any process.
        assert!(matches!(host.end(), 42 | 143 | -15));
        assert_eq!(host.scene.alive().len(), 0);
    }
}

#[test]
fn a_signal_that_the_runner_does_not_handle_is_the_exit_code() {
    let mut host = Host::start("guard");
    host.scene.until_there("ready");
    host.signal_guard(Signal::QUIT);
    assert_eq!(host.end(), 131);
    assert_eq!(host.scene.alive().len(), 0);
}

/// Interrupts the guard, and waits until the runner has heard it.
fn interrupt_and_wait(host: &Host, count: u32) {
    kill_process_group(pid(host.guard.0.id()), Signal::INT).unwrap();
    host.scene.until_there(&format!("interrupt-{count}"));
}

#[test]
fn an_interrupt_of_the_group_is_told_once() {
    let mut host = Host::start("interrupts");
    host.runner();
    interrupt_and_wait(&host, 1);
    host.signal_guard(Signal::TERM);
    assert_eq!(host.end(), 1);
}

#[test]
fn a_second_interrupt_kills_a_runner_that_goes_on() {
    let mut host = Host::start("deaf");
    host.runner();
    host.signal_guard(Signal::INT);
    host.scene.until_there("got-Interrupt");
    host.signal_guard(Signal::INT);
    assert_eq!(host.end(), 130);
    assert_eq!(host.scene.alive().len(), 0);
}

#[test]
fn a_runner_that_is_stopped_goes_on() {
    let mut host = Host::start("interrupts");
    let runner = pid(host.runner());
    for _ in 0..20 {
        kill_process(runner, Signal::STOP).unwrap();
    }
    interrupt_and_wait(&host, 1);
    kill_process(runner, Signal::TSTP).unwrap();
    host.signal_guard(Signal::TERM);
    assert_eq!(host.end(), 1);
}

#[test]
fn a_guard_that_is_stopped_goes_on() {
    let mut host = Host::start("interrupts");
    host.runner();
    host.signal_guard(Signal::STOP);
    interrupt_and_wait(&host, 1);
    host.signal_guard(Signal::TERM);
    assert_eq!(host.end(), 1);
}

#[test]
fn ctrl_z_does_not_suspend_the_guard() {
    let mut host = Host::start("interrupts");
    host.runner();
    host.signal_guard(Signal::TSTP);
    host.signal_guard(Signal::TERM);
    let guard = WaitId::Pid(pid(host.guard.0.id()));
    let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    let change = waitid(guard, options).unwrap().unwrap();
    assert!(change.exited(), "{change:?}");
    assert_eq!(host.end(), 0);
}

#[test]
fn a_runner_lets_nobody_read_its_environment_and_has_a_name() {
    let mut host = Host::start("interrupts");
    let runner = host.runner();
    let dumpable = fs::read_to_string(host.scene.folder.path().join("dumpable")).unwrap();
    assert_eq!(dumpable, "NotDumpable");
    let name = fs::read_to_string(format!("/proc/{runner}/comm")).unwrap();
    assert_eq!(name.trim(), crate::process::ancestry::RUNNER);
    host.signal_guard(Signal::TERM);
    assert_eq!(host.end(), 0);
}

#[test]
fn a_runner_without_its_guard_does_not_begin() {
    let scene = Scene::new();
    let mut stray = scene.role("guard");
    let mut stray = Killed(stray.env(crate::process::INNER, "1").spawn().unwrap());
    assert!(!stray.0.wait().unwrap().success());
    assert!(!scene.has("inner.pid"));
}
