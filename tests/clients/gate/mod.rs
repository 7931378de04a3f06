//! The gate as the hook of a real client: what the agent is told, when it may stop, and what is remembered.

mod crashes;
mod promises;
mod refusals;
mod side_by_side;
