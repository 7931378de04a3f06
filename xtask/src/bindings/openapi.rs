//! The OpenAPI documents of the gate behind HTTP and of `ralph-gate serve`, out of the WIT, the JSON Schemas and the routes.
//!
//! The files that come out are checked in, because they are served. A test compares; `BLESS=1` rewrites them. The server has
//! every path of the gate, and its own beside them.

mod face;
mod problems;
mod schemas;
mod server;

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::wit::Wit;

/// Who answers the paths of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// The component.
    Component,
    /// `ralph-gate serve`.
    Server,
}

impl Face {
    /// Both of them.
    pub(crate) const ALL: [Self; 2] = [Self::Component, Self::Server];

    /// Where its document is.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Component => "bindings/http/openapi.json",
            Self::Server => "host/src/serve/openapi.json",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Component => {
                "Every function of the gate, stateless: the body of a request is what the function takes, and the \
                 body of an answer is what it gives, byte for byte as everywhere else. A path that is not here \
                 is answered with 404 and problem details."
            }
            Self::Server => {
                "Every function of the gate, stateless; sessions, which the server keeps for harnesses that run their loops \
                 themselves; and loops, which the server runs. A path that is not here is answered with 404 and problem \
                 details. A server that was started with a token wants it with every request but those for /healthz."
            }
        }
    }
}

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
    /// What comes with a success, where it is not 200 and JSON.
    pub(crate) success: Success,
    /// Headers of the request: the name, whether it must be there, and what it says.
    pub(crate) headers: &'static [(&'static str, bool, &'static str)],
    /// Every other status.
    pub(crate) problems: Vec<u16>,
}

/// How something is answered that went well.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Success {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    /// Whether the answer has a version.
    pub(crate) is_tagged: bool,
}

impl Default for Success {
    fn default() -> Self {
        Self {
            status: 200,
            kind: "application/json",
            is_tagged: false,
        }
    }
}

/// The body of a request.
pub(crate) struct Request {
    pub(crate) schema: Value,
    /// One that is answered with 200.
    pub(crate) example: Option<Value>,
}

/// A whole file, from a checkout.
pub(crate) fn generate(root: &Path, face: Face) -> Result<String> {
    let wit = Wit::read(root)?;
    let mut operations = face::operations(&wit)?;
    let mut schemas = schemas::of(&wit, root)?;
    if face == Face::Server {
        for operation in &mut operations {
            operation.problems.extend(server::ANYWHERE);
            operation.problems.sort_unstable();
            operation.problems.dedup();
        }
        operations.extend(server::operations());
        schemas.extend(server::schemas());
    }
    let document = document(face, &operations, schemas);
    Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
}

/// A document of these operations, whose schemas refer to `schemas`.
fn document(face: Face, operations: &[Operation], mut schemas: Map<String, Value>) -> Value {
    let mut paths = Map::new();
    for operation in operations {
        let item = paths.entry(operation.path).or_insert_with(|| json!({}));
        if let Some(item) = item.as_object_mut() {
            item.insert(operation.method.to_owned(), operation.to_json());
        }
    }
    schemas.insert(problems::SCHEMA.to_owned(), problems::schema(face));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ralph-gate",
            "summary": "Decides when an autonomous agent may stop",
            "description": face.description(),
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": { "schemas": schemas, "responses": problems::responses(face) },
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
        let headers = self.headers.iter().map(|(name, is_required, description)| {
            let schema = json!({ "type": "string" });
            json!({
                "name": name, "in": "header", "required": is_required, "description": description, "schema": schema,
            })
        });
        names.map(parameter).chain(headers).collect()
    }

    fn responses(&self) -> Value {
        let mut success = json!({ "description": "What is asked for." });
        if self.success.is_tagged {
            let tag = json!({
                "description": "The version of the session.", "required": true, "schema": { "type": "string" },
            });
            success = with(success, "headers", json!({ "ETag": tag }));
        }
        if let Some(schema) = &self.answer {
            let content = json!({ self.success.kind: { "schema": schema } });
            success = with(success, "content", content);
        }
        let all = json!({ self.success.status.to_string(): success });
        let responses = self.problems.iter();
        responses.fold(all, |all, status| {
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
    fn the_documents_are_what_the_wit_and_the_routes_give() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for face in Face::ALL {
            let generated = generate(&root, face).unwrap();
            let file = face.file();
            if std::env::var_os("BLESS").is_some() {
                fs::write(root.join(file), &generated).unwrap();
            }
            let text = fs::read_to_string(root.join(file)).unwrap();
            assert!(
                text == generated,
                "{file} is not what the WIT gives; `BLESS=1 cargo test --package xtask openapi` writes it anew"
            );
        }
    }

    #[test]
    fn a_server_has_every_path_of_the_gate_and_its_own() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let paths = |face| -> Vec<String> {
            let document: Value = serde_json::from_str(&generate(&root, face).unwrap()).unwrap();
            let paths = document["paths"].as_object().unwrap();
            paths.keys().cloned().collect()
        };
        let (component, server) = (paths(Face::Component), paths(Face::Server));
        assert!(component.iter().all(|path| server.contains(path)));
        for own in ["/v1/sessions/{session}", "/v1/loops", "/metrics"] {
            assert!(server.iter().any(|path| path == own), "{own}");
            assert!(!component.iter().any(|path| path == own), "{own}");
        }
    }
}
