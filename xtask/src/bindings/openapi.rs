//! The OpenAPI document of the gate behind HTTP, out of the WIT, the JSON Schemas and the routes.
//!
//! The file that comes out is checked in, because the component serves it. A test compares; `BLESS=1` rewrites it.
//! [`document`] takes operations from anywhere: a server with further paths adds its own to those of the gate.

mod face;
mod problems;
mod schemas;

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::wit::Wit;

/// The file.
pub(crate) const FILE: &str = "bindings/http/openapi.json";

/// One method of one path.
pub(crate) struct Operation {
    pub(crate) path: &'static str,
    /// In lower case.
    pub(crate) method: &'static str,
    /// Its name in generated clients.
    pub(crate) id: String,
    /// Its first sentence says what it does.
    pub(crate) description: String,
    pub(crate) request: Option<Request>,
    /// The schema of the body. None where there is none.
    pub(crate) answer: Option<Value>,
    /// Every status other than 200.
    pub(crate) problems: Vec<u16>,
}

/// The body of a request.
pub(crate) struct Request {
    pub(crate) schema: Value,
    /// One that is answered with 200.
    pub(crate) example: Option<Value>,
}

/// The whole file, from a checkout.
pub(crate) fn generate(root: &Path) -> Result<String> {
    let wit = Wit::read(root)?;
    let operations = face::operations(&wit)?;
    let document = document(&operations, schemas::of(&wit, root)?);
    Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
}

/// A document of these operations, whose schemas refer to `schemas`.
pub(crate) fn document(operations: &[Operation], mut schemas: Map<String, Value>) -> Value {
    let mut paths = Map::new();
    for operation in operations {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(operation.method.to_owned(), operation.to_json());
        }
    }
    schemas.insert(problems::SCHEMA.to_owned(), problems::schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ralph-gate",
            "summary": "Decides when an autonomous agent may stop",
            "description": "Every function of the gate, stateless: the body of a request is what the function takes, and the \
                            body of an answer is what it gives, byte for byte as everywhere else. A path that is not here \
                            is answered with 404 and problem details.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": { "schemas": schemas, "responses": problems::responses() },
    })
}

impl Operation {
    fn to_json(&self) -> Value {
        let (summary, _) = self
            .description
            .split_once(['.', '\n', ':'])
            .unwrap_or((&self.description, ""));
        let mut operation = json!({
            "operationId": self.id,
            "summary": summary,
            "description": self.description,
        });
        let parameters = self.parameters();
        if !parameters.is_empty() {
            operation = with(operation, "parameters", Value::Array(parameters));
        }
        if let Some(request) = &self.request {
            let body = json!({
                "required": true,
                "content": { "application/json": request.to_json() },
            });
            operation = with(operation, "requestBody", body);
        }
        with(operation, "responses", self.responses())
    }

    /// What stands in braces in the path.
    fn parameters(&self) -> Vec<Value> {
        let names = self.path.split('{').skip(1);
        let names = names.filter_map(|rest| rest.split_once('}'));
        let parameter = |(name, _)| {
            let schema = json!({ "type": "string", "minLength": 1 });
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        };
        names.map(parameter).collect()
    }

    fn responses(&self) -> Value {
        let mut success = json!({ "description": "What is asked for." });
        if let Some(schema) = &self.answer {
            let content = json!({ "application/json": { "schema": schema } });
            success = with(success, "content", content);
        }
        let responses = self.problems.iter();
        responses.fold(json!({ "200": success }), |all, status| {
            with(all, &status.to_string(), problems::reference(*status))
        })
    }
}

impl Request {
    fn to_json(&self) -> Value {
        let content = json!({ "schema": self.schema });
        match &self.example {
            Some(example) => with(content, "example", example.clone()),
            None => content,
        }
    }
}

/// The same object with one field more, or another one.
fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    object
}

/// A reference to a schema of the document.
fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_document_is_what_the_wit_and_the_routes_give() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let generated = generate(&root).unwrap();
        if std::env::var_os("BLESS").is_some() {
            fs::write(root.join(FILE), &generated).unwrap();
        }
        let text = fs::read_to_string(root.join(FILE)).unwrap();
        assert!(
            text == generated,
            "{FILE} is not what the WIT gives; `BLESS=1 cargo test --package xtask openapi` writes it anew"
        );
    }

    #[test]
    fn operations_of_another_source_stand_beside_those_of_the_gate() {
        let operation = Operation {
            path: "/v1/loops",
            method: "get",
            id: "list_loops".to_owned(),
            description: "List the loops. All of them.".to_owned(),
            request: None,
            answer: Some(reference("Loop")),
            problems: vec![405],
        };
        let schemas = Map::from_iter([("Loop".to_owned(), json!({ "type": "object" }))]);
        let document = document(&[operation], schemas);
        let at = |pointer: &str| document.pointer(pointer).cloned();
        assert_eq!(
            at("/paths/~1v1~1loops/get/summary"),
            Some(json!("List the loops"))
        );
        assert_eq!(
            at("/paths/~1v1~1loops/get/responses/405/$ref"),
            Some(json!("#/components/responses/MethodNotAllowed"))
        );
        assert!(at("/components/responses/MethodNotAllowed").is_some());
    }
}
