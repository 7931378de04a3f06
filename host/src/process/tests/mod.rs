//! Runs real programs, well-behaved and hostile ones, and looks what is left of them.

mod guarding;
mod kit;
mod roles;
mod running;
mod sweeping;
