//! Experiments: the same tasks in two arms, so that a report can say what the gate is worth.
//!
//! A [`Plan`] names tasks, arms, how often each is run and by which metric the arms are compared, before the first run.
//! [`order`] shuffles the runs by a seed. [`Prepared`] is a plan whose tasks were looked at; [`Prepared::open`] writes the
//! order and the digests of everything that must not change, and [`Experiment::conduct`] runs what is not done yet, each
//! as a process of `ralph-gate run` in a fresh workspace.
//!
//! What was done is told by the files alone, so an experiment that was interrupted goes on where it stopped:
//!
//! ```text
//! OUTPUT/
//!   plan.lock.json                  the order, and digests of what must not change
//!   runs/ARM/TASK/REPEAT/
//!     workspace/                    a copy of the task's folder, with the loop's memory
//!     request.json, prompt.md       what the loop is asked for
//!     run.json                      how it ended: without it the run is not done
//!   set-aside/ARM/TASK/REPEAT/1/    a run that was interrupted: it counts nowhere, and is not deleted
//! ```

mod audit;
mod conduct;
mod error;
mod estimate;
mod layout;
mod lock;
mod order;
mod plan;
mod prepare;
mod record;
mod run;

mod workspace;

pub use conduct::{Conducted, Experiment, Means, Observer, Standing, Step};
pub use error::ExperimentError;
pub use estimate::{Past, remaining_ms};
pub use lock::PlanLock;
pub use order::{RunId, order};
pub use plan::{AgentCommand, Arm, Named, Plan, PlannedTask, Prompt};
pub use prepare::Prepared;
pub use record::{Audited, LoopEnd, RunRecord};
