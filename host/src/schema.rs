//! The JSON Schemas of what people write, for editors. The gate's own crate generates them; a test compares.

/// Each schema: its name and its text.
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
