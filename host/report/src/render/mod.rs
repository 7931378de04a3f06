//! A report for people and machines: as a table, as Markdown, as one page, as JSON.
//!
//! Names and sentences of a report come from logs, and logs from agents: every one of them goes through [`text`], and every
//! number through [`number`], so that all forms say the same.

mod html;
mod json;
mod markdown;
pub mod number;
mod rows;
mod svg;
mod table;
pub mod text;

pub use html::{STYLE_HASH, html};
pub use json::json;
pub use markdown::markdown;
pub use table::{Paint, Plain, table};
