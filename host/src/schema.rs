//! The JSON Schemas of what people write, for editors, and of what loops write. Those of the gate come from its own
//! crate; a test compares.

/// Each schema of the gate: its name and its text.
///
/// ```
/// let (name, text) = ralph_gate::schema::SCHEMAS[0];
/// assert_eq!(name, "contract");
/// assert!(text.contains("completion_checks"));
/// ```
pub const SCHEMAS: &[(&str, &str)] = &[
    (
        "contract",
        include_str!("../../gate-component/schemas/contract.schema.json"),
    ),
    (
        "request",
        include_str!("../../gate-component/schemas/request.schema.json"),
    ),
    (
        "routing",
        include_str!("../../gate-component/schemas/routing.schema.json"),
    ),
];

/// The schema of one line of `events.jsonl`. Tests hold every log against it that they leave behind.
const EVENT: &str = include_str!("../schemas/event.schema.json");

/// The names of all schemas.
pub fn names() -> Vec<&'static str> {
    let gate = SCHEMAS.iter().map(|(name, _)| *name);
    let gate = gate.chain(["event"]);
    #[cfg(unix)]
    let gate = gate.chain(["config"]);
    gate.collect()
}

/// The schema of that name.
///
/// ```
/// assert!(ralph_gate::schema::find("contract").is_some());
/// assert!(ralph_gate::schema::find("poem").is_none());
/// ```
pub fn find(name: &str) -> Option<String> {
    #[cfg(unix)]
    if name == "config" {
        return Some(crate::config::schema::text());
    }
    if name == "event" {
        return Some(EVENT.to_owned());
    }
    gate(name).map(str::to_owned)
}

/// The gate's schema of that name.
pub(crate) fn gate(wanted: &str) -> Option<&'static str> {
    let mut schemas = SCHEMAS.iter();
    schemas.find_map(|(name, text)| (*name == wanted).then_some(*text))
}
