//! The signals that tell the runner to end.

use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Source;

/// Somebody wants the runner to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// SIGINT, such as Ctrl-C. A second one can mean more than the first.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
}

/// The signals of this process from the moment of its making on. They no longer end the process by themselves.
#[derive(Debug)]
pub struct Signals(Receiver<Interruption>);

impl Signals {
    /// Listens from now on, in a thread of its own. With a guard, [`enter`](super::enter()) does it.
    pub fn listen() -> io::Result<Self> {
        let mut source = Source::new([SIGINT, SIGTERM, SIGHUP])?;
        let (sender, receiver) = channel();
        let tell = move || {
            for signal in source.forever() {
                let told = match signal {
                    SIGINT => Interruption::Interrupt,
                    SIGTERM => Interruption::Terminate,
                    _ => Interruption::Hangup,
                };
                if sender.send(told).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("signals".into()).spawn(tell)?;
        Ok(Self(receiver))
    }
}

/// Waits for each one, for ever.
impl Iterator for Signals {
    type Item = Interruption;

    fn next(&mut self) -> Option<Interruption> {
        self.0.recv().ok()
    }
}
