//! The signals that tell the runner to end.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals as Source;

/// What the guard sends in place of an interrupt that reached it, because a terminal sends one to both.
pub(super) const FORWARDED_INTERRUPT: i32 = SIGUSR1;
/// How far the two halves of one interrupt may be apart.
const SAME: Duration = Duration::from_millis(500);
/// How many halves are remembered; more are not sent by people.
const REMEMBERED: usize = 16;

/// Somebody wants the runner to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// SIGINT, such as Ctrl-C. Each one is told once, so that a second one can mean more than the first.
    Interrupt,
    /// SIGTERM. It may be told twice if it was sent to the process group.
    Terminate,
    /// SIGHUP: the terminal is gone. It may be told twice if it was sent to the process group.
    Hangup,
}

/// The signals of this process from the moment of its making on. They no longer end the process by themselves.
#[derive(Debug)]
pub struct Signals(Receiver<Interruption>);

impl Signals {
    /// Listens from now on, in a thread of its own. With a guard, [`enter`](super::enter()) does it.
    pub fn listen() -> io::Result<Self> {
        let mut source = Source::new([SIGINT, SIGTERM, SIGHUP, FORWARDED_INTERRUPT])?;
        let (sender, receiver) = channel();
        let tell = move || {
            let mut interrupts = Interrupts::default();
            for signal in source.forever() {
                let told = interruption(signal, &mut interrupts);
                if told.is_some_and(|told| sender.send(told).is_err()) {
                    return;
                }
            }
        };
        thread::Builder::new().name("signals".into()).spawn(tell)?;
        Ok(Self(receiver))
    }

    /// The next one, if it comes in time.
    pub fn wait(&self, limit: Duration) -> Option<Interruption> {
        self.0.recv_timeout(limit).ok()
    }

    /// The next one, if it came already.
    pub fn pending(&self) -> Option<Interruption> {
        self.0.try_recv().ok()
    }
}

/// Waits for each one, for ever.
impl Iterator for Signals {
    type Item = Interruption;

    fn next(&mut self) -> Option<Interruption> {
        self.0.recv().ok()
    }
}

fn interruption(signal: i32, interrupts: &mut Interrupts) -> Option<Interruption> {
    let is_new = |way, interrupts: &mut Interrupts| {
        (interrupts.arrive(way, Instant::now()) == Arrival::First)
            .then_some(Interruption::Interrupt)
    };
    match signal {
        SIGINT => is_new(Way::Direct, interrupts),
        FORWARDED_INTERRUPT => is_new(Way::Forwarded, interrupts),
        SIGTERM => Some(Interruption::Terminate),
        SIGHUP => Some(Interruption::Hangup),
        _ => None,
    }
}

/// How an interrupt came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Direct,
    Forwarded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arrival {
    First,
    SecondHalf,
}

/// Puts the two halves of an interrupt together that went to both, the guard and the runner. Invariant: all halves
/// that wait for their counterpart came the same way.
#[derive(Debug, Default)]
struct Interrupts(VecDeque<(Way, Instant)>);

impl Interrupts {
    fn arrive(&mut self, way: Way, now: Instant) -> Arrival {
        self.0
            .retain(|(_, then)| now.saturating_duration_since(*then) < SAME);
        if self.0.front().is_some_and(|(other, _)| *other != way) {
            self.0.pop_front();
            return Arrival::SecondHalf;
        }
        if self.0.len() < REMEMBERED {
            self.0.push_back((way, now));
        }
        Arrival::First
    }
}

#[cfg(test)]
mod tests {
    use super::Way::{Direct, Forwarded};
    use super::*;

    fn told(arrivals: &[(Way, u64)]) -> usize {
        let start = Instant::now();
        let mut interrupts = Interrupts::default();
        let arrivals = arrivals.iter();
        arrivals
            .filter(|(way, at)| {
                interrupts.arrive(*way, start + Duration::from_millis(*at)) == Arrival::First
            })
            .count()
    }

    #[test]
    fn an_interrupt_that_reached_guard_and_runner_is_told_once() {
        assert_eq!(told(&[(Direct, 0), (Forwarded, 3)]), 1);
        assert_eq!(told(&[(Forwarded, 0), (Direct, 3)]), 1);
    }

    #[test]
    fn a_second_interrupt_is_told_however_soon_it_comes() {
        let both = [(Direct, 0), (Forwarded, 3), (Direct, 5), (Forwarded, 8)];
        assert_eq!(told(&both), 2);
        assert_eq!(
            told(&[(Direct, 0), (Direct, 5), (Forwarded, 8), (Forwarded, 9)]),
            2
        );
        assert_eq!(told(&[(Forwarded, 0), (Forwarded, 5)]), 2);
        assert_eq!(told(&[(Direct, 0), (Direct, 5)]), 2);
    }

    #[test]
    fn halves_that_are_far_apart_are_two_interrupts() {
        assert_eq!(told(&[(Direct, 0), (Forwarded, 600)]), 2);
    }
}
