//! The files for deployment: fields that are documented, and names that fit each other and the component.

use std::fs;
use std::path::Path;

use ralph_gate_component::tree::{Node, Source, TextFormat, Value as Tree};
use ralph_gate_http::routes;
use serde_json::{Value, json};

fn read(path: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("deploy")
        .join(path);
    let text = fs::read_to_string(&file).unwrap();
    let format = match file.extension().and_then(|it| it.to_str()) {
        Some("toml") => TextFormat::Toml,
        _ => TextFormat::Yaml,
    };
    let source = Source::new(&text, format);
    plain(
        &source
            .read()
            .unwrap_or_else(|problem| panic!("{path}: {problem:?}")),
    )
}

fn plain(node: &Node<'_>) -> Value {
    match &node.value {
        Tree::Null => Value::Null,
        Tree::Bool(flag) => json!(flag),
        Tree::Number(text) => serde_json::from_str(text).unwrap(),
        Tree::String(text) => json!(text),
        Tree::List(items) => items.iter().map(plain).collect(),
        Tree::Map(entries) => entries
            .iter()
            .map(|entry| (entry.key.to_string(), plain(&entry.node)))
            .collect(),
    }
}

/// Asserts that a value has these fields, each of them a schema, and no other.
fn check(path: &str, value: &Value, fields: &Value) {
    let required: Vec<&String> = fields.as_object().unwrap().keys().collect();
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": fields,
    });
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    if let Err(error) = validator.validate(value) {
        panic!("{path}: {error} at {}", error.instance_path());
    }
}

/// Where `cargo xtask package http` puts the component.
const COMPONENT: &str = "ralph-gate-http.wasm";

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

fn image() -> String {
    format!("ralph-gate-http:{}", version())
}

/// Whether a path of a probe is one that is answered.
fn is_probe(path: &Value) -> bool {
    let route = path.as_str().and_then(routes::find);
    route.is_some_and(|route| route.takes("GET"))
}

#[test]
fn spin_runs_the_component_that_is_built_for_every_path() {
    let path = "spin/spin.toml";
    let manifest = read(path);
    let text = json!({ "type": "string" });
    check(
        path,
        &manifest,
        &json!({ "spin_manifest_version": { "const": 2 }, "application": true, "trigger": true, "component": true }),
    );
    let application = &manifest["application"];
    check(
        path,
        application,
        &json!({ "name": { "pattern": "^[a-zA-Z0-9_-]+$" }, "version": { "const": version() }, "description": text }),
    );
    let triggers = manifest["trigger"]["http"].as_array().unwrap();
    let [trigger] = triggers.as_slice() else {
        panic!("{triggers:?}")
    };
    check(
        path,
        trigger,
        &json!({ "route": { "const": "/..." }, "component": text }),
    );
    let component = &manifest["component"][trigger["component"].as_str().unwrap()];
    check(
        path,
        component,
        &json!({ "source": { "const": format!("../../../../target/bindings/http/{COMPONENT}") }, "allowed_outbound_hosts": { "const": [] } }),
    );
}

#[test]
fn wasmcloud_hands_requests_to_the_component() {
    let path = "wasmcloud/workload.yaml";
    let workload = read(path);
    check(
        path,
        &workload,
        &json!({
            "apiVersion": { "const": "runtime.wasmcloud.dev/v1alpha1" },
            "kind": { "const": "WorkloadDeployment" },
            "metadata": { "required": ["name"] },
            "spec": true,
        }),
    );
    check(
        path,
        &workload["spec"],
        &json!({ "replicas": { "type": "integer", "minimum": 1 }, "template": true }),
    );
    let spec = &workload["spec"]["template"]["spec"];
    check(
        path,
        spec,
        &json!({ "hostSelector": { "type": "object" }, "components": { "maxItems": 1 }, "hostInterfaces": { "maxItems": 1 } }),
    );
    check(
        path,
        &spec["components"][0],
        &json!({ "name": { "type": "string" }, "image": { "const": image() } }),
    );
    check(
        path,
        &spec["hostInterfaces"][0],
        &json!({
            "namespace": { "const": "wasi" },
            "package": { "const": "http" },
            "interfaces": { "const": ["incoming-handler"] },
            "config": { "required": ["host"] },
        }),
    );
}

#[test]
fn spinkube_runs_the_application_and_asks_for_its_health() {
    let path = "kubernetes/spinkube/spinapp.yaml";
    let app = read(path);
    check(
        path,
        &app,
        &json!({
            "apiVersion": { "const": "core.spinkube.dev/v1alpha1" },
            "kind": { "const": "SpinApp" },
            "metadata": { "required": ["name"] },
            "spec": true,
        }),
    );
    check(
        path,
        &app["spec"],
        &json!({
            "image": { "const": image() },
            "executor": { "const": "containerd-shim-spin" },
            "replicas": { "type": "integer", "minimum": 1 },
            "resources": true,
            "checks": true,
        }),
    );
    for check in ["liveness", "readiness"] {
        let probe = &app["spec"]["checks"][check]["httpGet"]["path"];
        assert!(is_probe(probe), "{probe}");
    }
}

#[test]
fn kubernetes_finds_runtime_pods_and_ports_by_their_names() {
    let class = read("kubernetes/wasmtime/runtime-class.yaml");
    let deployment = read("kubernetes/wasmtime/deployment.yaml");
    let service = read("kubernetes/wasmtime/service.yaml");
    let spec = &deployment["spec"];
    let pod = &spec["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(pod["runtimeClassName"], class["metadata"]["name"]);
    assert_eq!(class["handler"], "wasmtime");
    let labels = &spec["template"]["metadata"]["labels"];
    assert_eq!(&spec["selector"]["matchLabels"], labels);
    assert_eq!(&service["spec"]["selector"], labels);
    assert_eq!(container["image"], image());
    assert_eq!(container["command"], json!([format!("/{COMPONENT}")]));
    let port = &container["ports"][0];
    // Where the shim listens.
    assert_eq!(port["containerPort"], 8080);
    assert_eq!(port["name"], service["spec"]["ports"][0]["targetPort"]);
    for probe in ["livenessProbe", "readinessProbe"] {
        let probe = &container[probe]["httpGet"];
        assert_eq!(probe["port"], port["name"]);
        assert!(is_probe(&probe["path"]), "{probe}");
    }
}
