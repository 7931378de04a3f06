//! Runs other people's programs under control: an agent, a check's command. Nothing that they start outlives them.
//!
//! [`run`] starts one program in a process group of its own, feeds it, reads what it writes and ends only when the
//! program's whole tree is dead: children, grandchildren, those that changed their group or session, and daemons.
//! [`guard`](guard()) does the same for the host itself.
//!
//! # How far it reaches
//!
//! On Linux, after [`claim`], every process that a program leaves behind becomes a child of this one, and is found
//! there. Which of several runs it belongs to is told by its ancestors, by a mark in its environment, by its process
//! group and session, and by the pipe it still writes to. A process that got rid of all of these can't be told apart:
//! it is killed by [`sweep`], between runs.
//!
//! Out of reach are processes that another service started on a program's behalf (a container daemon, `at`,
//! `systemd-run`), because they were never in its tree, and those that belong to another user, which this one may not
//! kill. The latter are among [`Ended::leftovers`].
//!
//! On other Unix systems only the program's process group is killed ([`Reach::Group`]): processes that left it stay
//! alive and are not reported.

mod ancestry;
mod capture;
mod error;
mod guard;
mod lookup;
mod program;
mod redact;
mod registry;
mod root;
mod run;
mod shapes;
mod signals;
mod stop;
mod tree;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

pub use ancestry::{Ancestor, Identity, ancestors, environment_of, identity, is_descendant};
pub use capture::Captured;
pub use error::{ClaimError, GuardError, StartError};
pub use guard::{INNER, Role, end_now, enter, guard, role};
pub use lookup::can_start;
pub use program::{Ended, Keep, Leftover, Program, Status};
pub use redact::Redactor;
pub use run::run;
pub use signals::{Interruption, Signals};
pub use stop::Stop;
pub use tree::{Reach, claim, sweep};
