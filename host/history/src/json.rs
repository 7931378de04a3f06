//! The one JSON form of reports and errors.

use serde::Serialize;

use crate::error::HistoryError;

/// A report as JSON, or `{"error": …}` as the gate writes its own.
pub fn answer<T: Serialize>(report: &Result<T, HistoryError>) -> String {
    #[derive(Serialize)]
    struct Failed<'e> {
        error: &'e HistoryError,
    }
    let text = match report {
        Ok(report) => serde_json::to_string(report),
        Err(error) => serde_json::to_string(&Failed { error }),
    };
    // Writing our own types into memory can't fail; the fallback keeps the function total.
    text.unwrap_or_else(|_| "null".to_owned())
}
