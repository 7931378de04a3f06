//! The package for Python.

mod schema;
mod types;
