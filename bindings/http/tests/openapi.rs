//! The OpenAPI document is true: routes, every vector's requests and answers, and what the gate demands, no less.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use ralph_gate_component::json;
use ralph_gate_http::routes::{CALL, ROUTES, Target};
use ralph_gate_http::{Request, Response, answer};
use serde_json::{Value, json};

fn document() -> Value {
    serde_json::from_str(include_str!("../openapi.json")).unwrap()
}

/// A validator of a schema that refers to the document's.
fn validator(document: &Value, schema: &Value) -> Validator {
    let mut root = schema.clone();
    root["components"] = document["components"].clone();
    jsonschema::draft202012::new(&root).unwrap()
}

/// The validators of one operation.
struct Operation {
    path: &'static str,
    request: Validator,
    /// By status. What is answered has no field that is not documented, even though fields may be added one day.
    answers: BTreeMap<u16, Validator>,
}

impl Operation {
    /// Every function's operation, by its name.
    fn all() -> BTreeMap<&'static str, Self> {
        let document = document();
        let mut closed = document.clone();
        close(&mut closed["components"]);
        close(&mut closed["paths"]);
        let functions = ROUTES.iter().filter_map(|route| match route.target {
            Target::Function(name) => Some((name, route.path)),
            Target::OpenApi | Target::Health => None,
        });
        functions
            .map(|(name, path)| (name, Self::new(&document, &closed, path)))
            .collect()
    }

    fn new(document: &Value, closed: &Value, path: &'static str) -> Self {
        let request = &document["paths"][path]["post"]["requestBody"];
        let request = &request["content"]["application/json"]["schema"];
        let responses = closed["paths"][path]["post"]["responses"].as_object();
        let responses = responses.unwrap().iter().map(|(status, response)| {
            let response = resolve(closed, response);
            let content = response["content"].as_object().unwrap();
            let (media_type, content) = content.iter().next().unwrap();
            let expected = match status.as_str() {
                "200" => "application/json",
                _ => "application/problem+json",
            };
            assert_eq!(media_type, expected, "{path} {status}");
            (
                status.parse().unwrap(),
                validator(closed, &content["schema"]),
            )
        });
        Self {
            path,
            request: validator(document, request),
            answers: responses.collect(),
        }
    }

    fn ask(&self, input: &str) -> Response {
        let request = Request {
            method: "POST",
            path: self.path,
            content_type: Some("application/json"),
            ..Request::default()
        };
        answer(&request, || Ok(input.as_bytes().to_vec()))
    }

    /// Holds an answer against the document, and gives its body.
    fn check(&self, response: &Response) -> Value {
        let body: Value = serde_json::from_str(response.body.as_deref().unwrap()).unwrap();
        let known = self.answers.get(&response.status);
        let known = known.unwrap_or_else(|| panic!("{} {}", self.path, response.status));
        if let Err(error) = known.validate(&body) {
            panic!(
                "{} {}: {error} at {}",
                self.path,
                response.status,
                error.instance_path()
            );
        }
        body
    }
}

/// Follows a reference.
fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => document
            .pointer(reference.strip_prefix('#').unwrap())
            .unwrap(),
        None => value,
    }
}

/// Closes every object that is open, except parts that are put together.
fn close(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                if name != "allOf" {
                    close(field);
                }
            }
            if fields.get("type") == Some(&json!("object"))
                && fields.contains_key("properties")
                && !fields.contains_key("additionalProperties")
            {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|it| it == "json") {
            found.push(path);
        }
    }
}

/// Every call of every vector that has a route: its function, and its input as text.
fn calls() -> Vec<(&'static str, String)> {
    let mut paths = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    files(&root, &mut paths);
    paths.sort();
    let mut calls = Vec::new();
    for path in paths {
        let vector: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut previous = Value::Null;
        for call in vector["calls"].as_array().unwrap() {
            let function = call["function"].as_str().unwrap();
            let mut input = call["input"].clone();
            if input["snapshot"] == "$previous" {
                input["snapshot"] = previous["snapshot"].clone();
            }
            let text = match call["input_text"].as_str() {
                Some(text) => text.to_owned(),
                None => input.to_string(),
            };
            previous = serde_json::from_str(&json::call(function, &text)).unwrap();
            if let Some(known) = json::functions().find(|known| *known == function) {
                calls.push((known, text));
            }
        }
    }
    assert!(calls.len() > 300, "{}", calls.len());
    calls
}

#[test]
fn every_vector_is_what_the_document_says() {
    let operations = Operation::all();
    let mut statuses = BTreeSet::new();
    for (function, text) in calls() {
        let operation = &operations[function];
        let response = operation.ask(&text);
        let body = operation.check(&response);
        statuses.insert(response.status);
        let input: Value = serde_json::from_str(&text).unwrap_or_default();
        if response.status == 200 {
            assert_eq!(
                response.body.unwrap(),
                json::call(function, &text),
                "{function}"
            );
            if let Err(error) = operation.request.validate(&input) {
                panic!(
                    "{function} is answered, but {error} at {}\n{text}",
                    error.instance_path()
                );
            }
        } else {
            let face: Value = serde_json::from_str(&json::call(function, &text)).unwrap();
            assert_eq!(face["error"], body["error"], "{function}");
        }
    }
    assert_eq!(statuses, BTreeSet::from([200, 400, 409, 422]));
}

/// Every place of an input that is an object, as a pointer.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(at.to_owned());
            for (name, field) in fields {
                objects(field, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn what_the_gate_refuses_in_an_object_the_document_refuses_too() {
    let operations = Operation::all();
    let mut tried = 0;
    let mut seen = BTreeSet::new();
    for (function, text) in calls() {
        let operation = &operations[function];
        let Ok(input) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        if operation.ask(&text).status != 200 {
            continue;
        }
        let mut places = Vec::new();
        objects(&input, "", &mut places);
        // The schemas of what people write have a test of their own, and rules beyond what a schema can say.
        places.retain(|place| {
            !["/contract", "/policy", "/request"]
                .iter()
                .any(|it| place.starts_with(it))
        });
        for place in places {
            for changed in changes(&input, &place) {
                // One of each kind is enough: numbers in a place are items of a list.
                let kind: String = place.chars().filter(|it| !it.is_ascii_digit()).collect();
                if !seen.insert((function, kind, changed.0)) {
                    continue;
                }
                let response = operation.ask(&changed.1.to_string());
                operation.check(&response);
                let is_known = operation.request.is_valid(&changed.1);
                let is_read = ![400, 422].contains(&response.status);
                assert!(
                    is_known == is_read,
                    "{function}: the document {} what is answered with {}\n{}",
                    if is_known { "allows" } else { "refuses" },
                    response.status,
                    changed.1
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "{tried}");
}

/// What can be done to an object: a field that nobody knows, and each field left out or null.
fn changes(input: &Value, place: &str) -> Vec<(String, Value)> {
    let mut changes = Vec::new();
    let edit = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        let mut edited = input.clone();
        change(edited.pointer_mut(place).unwrap().as_object_mut().unwrap());
        edited
    };
    let names: Vec<String> = input
        .pointer(place)
        .unwrap()
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    changes.push((
        "unknown".to_owned(),
        edit(&|fields| {
            fields.insert("nobody_knows".to_owned(), json!(1));
        }),
    ));
    for name in names {
        changes.push((
            format!("{name} absent"),
            edit(&|fields| {
                fields.remove(&name);
            }),
        ));
        changes.push((
            format!("{name} null"),
            edit(&|fields| {
                fields.insert(name.clone(), Value::Null);
            }),
        ));
    }
    changes
}

#[test]
fn every_route_is_documented_and_nothing_else() {
    let document = document();
    let documented: BTreeMap<&str, Vec<String>> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, item)| {
            let methods = item.as_object().unwrap().keys();
            (
                path.as_str(),
                methods.map(|method| method.to_uppercase()).collect(),
            )
        })
        .collect();
    let any_function = format!("{CALL}{{function}}");
    let routes: BTreeMap<&str, Vec<String>> = ROUTES
        .iter()
        .map(|route| (route.path, route.allow()))
        .chain([(any_function.as_str(), "POST")])
        .map(|(path, allow)| (path, allow.split(", ").map(str::to_owned).collect()))
        .collect();
    assert_eq!(documented, routes);
}

#[test]
fn every_example_is_answered() {
    let document = document();
    let operations = Operation::all();
    let mut without = Vec::new();
    for (function, operation) in &operations {
        let request = &document["paths"][operation.path]["post"]["requestBody"];
        let example = &request["content"]["application/json"]["example"];
        if example.is_null() {
            without.push(*function);
            continue;
        }
        assert!(operation.request.is_valid(example), "{function}");
        let response = operation.ask(&example.to_string());
        assert_eq!(response.status, 200, "{function}: {:?}", response.body);
        operation.check(&response);
    }
    assert_eq!(without, ["read_snapshot", "resume"]);
}

#[test]
fn every_problem_of_http_itself_is_documented() {
    let document = document();
    let responses = document["components"]["responses"].as_object().unwrap();
    let mut codes = BTreeSet::new();
    for response in responses.values() {
        let parts = &response["content"]["application/problem+json"]["schema"]["allOf"];
        let own = &parts[1]["properties"];
        let status = own["status"]["const"].as_u64().unwrap();
        for code in own["code"]["enum"].as_array().unwrap() {
            codes.insert((code.as_str().unwrap().to_owned(), status));
        }
    }
    let known = ralph_gate_http::problem::Code::all();
    let known: BTreeSet<_> = known
        .map(|code| (code.as_str().to_owned(), u64::from(code.status())))
        .collect();
    assert_eq!(codes, known);
}
