//! What a component is made of: its world, its imports, and whether anything runs at start-up.

use anyhow::{Context, Result, bail};
use wasmparser::{Encoding, Imports, Parser, Payload};
use wit_component::{DecodedWasm, WitPrinter};

/// The one interface that a policy may import.
const ARTIFACTS: &str = "ralph:gate/artifacts@0.1.0";

/// The one interface that the loop's memory imports.
const DISK: &str = "ralph:gate/disk@0.1.0";

/// The one interface that the gate behind HTTP exports.
const HANDLER: &str = "wasi:http/incoming-handler";

/// What the world wasi:http/proxy offers that the gate behind HTTP has a use for: requests and responses, and the streams of
/// their bodies. Its clocks, randomness, outputs and outgoing requests are left alone.
const PROXY: [&str; 4] = [
    "wasi:http/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
];

/// Every release of WASI 0.2 accepts components that were made for an earlier one.
const WASI: &str = "0.2.";

/// The parts of a component that decide what it can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Anatomy {
    /// The world and its interfaces, as WIT.
    pub world: String,
    /// What the component asks of its host. Empty for the gate.
    pub imports: Vec<String>,
    /// What the component offers.
    pub exports: Vec<String>,
    /// What its core modules import, as `module::name`, apart from [`Self::intrinsics`].
    pub core_imports: Vec<String>,
    /// What its core modules get from inside the component: the handles of resources that it exports,
    /// and the table (in a module without a name) through which those reach their destructor. No host
    /// is asked for these.
    pub intrinsics: Vec<String>,
    /// How many start functions there are, which would run before the first call.
    pub start_functions: usize,
}

impl Anatomy {
    /// Refuses a component that is not a pure function: one that imports something, or that runs
    /// something before it is called.
    pub fn check_pure(&self) -> Result<()> {
        self.check("nothing", |_| false)
    }

    /// Refuses a policy that is not a pure function of its evidence: one that imports something else than
    /// artifacts, or that runs something before it is called.
    pub fn check_policy(&self) -> Result<()> {
        self.check(&format!("nothing but {ARTIFACTS}"), |name| {
            name == ARTIFACTS
        })
    }

    /// Refuses a memory that reaches more of the world than the files of its session.
    pub fn check_memory(&self) -> Result<()> {
        self.check(&format!("nothing but {DISK}"), |name| name == DISK)
    }

    /// Refuses a component that does something else than handling requests of HTTP, or that reaches more than these.
    pub fn check_http(&self) -> Result<()> {
        let [export] = self.exports.as_slice() else {
            bail!(
                "the component must export {HANDLER} and nothing else, but exports {}",
                self.exports.join(", ")
            );
        };
        if !is_wasi(export, &[HANDLER]) {
            bail!("the component must export {HANDLER} of WASI {WASI}x, but exports {export}");
        }
        let allowed = format!("nothing but {} of WASI {WASI}x", PROXY.join(", "));
        self.check(&allowed, |name| is_wasi(name, &PROXY))
    }

    fn check(&self, allowed: &str, is_allowed: impl Fn(&str) -> bool) -> Result<()> {
        let is_foreign = |name: &&String| !is_allowed(name);
        let imports: Vec<&String> = self.imports.iter().filter(is_foreign).collect();
        if !imports.is_empty() {
            bail!(
                "the component must import {allowed}, but imports {}",
                join(&imports)
            );
        }
        // `module::name`, where the module is the interface.
        let module = |import: &str| {
            import
                .rsplit_once("::")
                .map(|(module, _)| module.to_owned())
        };
        let is_foreign = |import: &&String| !module(import).is_some_and(|name| is_allowed(&name));
        let imports: Vec<&String> = self.core_imports.iter().filter(is_foreign).collect();
        if !imports.is_empty() {
            bail!(
                "the core module must import {allowed}, but imports {}",
                join(&imports)
            );
        }
        if self.start_functions != 0 {
            bail!(
                "the component must have no start function, but has {}",
                self.start_functions
            );
        }
        Ok(())
    }
}

/// Whether a name is that of one of these interfaces, in a version that every host of WASI 0.2 has.
fn is_wasi(name: &str, interfaces: &[&str]) -> bool {
    let (interface, version) = name.split_once('@').unwrap_or((name, ""));
    interfaces.contains(&interface) && version.starts_with(WASI)
}

fn join(names: &[&String]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}

/// Takes a component apart.
pub fn anatomy(component: &[u8]) -> Result<Anatomy> {
    if !Parser::is_component(component) {
        bail!("this is not a WebAssembly component");
    }
    let mut anatomy = Anatomy {
        world: world(component)?,
        ..Anatomy::default()
    };
    // Which kind of binary each open level is: the component itself, and what is nested in it.
    let mut depth = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        match payload.context("the component is damaged")? {
            Payload::Version { encoding, .. } => depth.push(encoding),
            Payload::End(_) => {
                depth.pop();
            }
            Payload::StartSection { .. } | Payload::ComponentStartSection { .. } => {
                anatomy.start_functions += 1;
            }
            Payload::ImportSection(section) => {
                for group in section {
                    anatomy.add_core_imports(&group?)?;
                }
            }
            // A component that is nested inside gets its imports from the outer one, not from the host.
            Payload::ComponentImportSection(section) if depth == [Encoding::Component] => {
                for import in section {
                    anatomy.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == [Encoding::Component] => {
                for export in section {
                    anatomy.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(anatomy)
}

impl Anatomy {
    fn add_core_imports(&mut self, group: &Imports<'_>) -> Result<()> {
        match group {
            Imports::Single(_, import) => self.add_core_import(import.module, import.name),
            Imports::Compact1 { module, items } => {
                for item in items.clone() {
                    self.add_core_import(module, item?.name);
                }
            }
            Imports::Compact2 { module, names, .. } => {
                for name in names.clone() {
                    self.add_core_import(module, name?);
                }
            }
        }
        Ok(())
    }

    fn add_core_import(&mut self, module: &str, name: &str) {
        let import = format!("{module}::{name}");
        let handle = module.starts_with("[export]") && name.starts_with("[resource-");
        if handle || module.is_empty() {
            self.intrinsics.push(import);
        } else {
            self.core_imports.push(import);
        }
    }
}

/// The component's world and everything it refers to, as WIT.
fn world(component: &[u8]) -> Result<String> {
    let decoded = wit_component::decode(component).context("the component is not valid")?;
    if let DecodedWasm::WitPackage(..) = decoded {
        bail!("this is a WIT package in binary form, not a component");
    }
    let root = decoded.package();
    let others: Vec<_> = decoded
        .resolve()
        .packages
        .iter()
        .map(|(id, _)| id)
        .filter(|id| *id != root)
        .collect();
    let mut printer = WitPrinter::default();
    printer.print(decoded.resolve(), root, &others)?;
    Ok(printer.output.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";

    /// A binary out of its sections: id and content.
    fn binary(header: &[u8], sections: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        for (id, content) in sections {
            bytes.push(*id);
            bytes.push(u8::try_from(content.len()).unwrap());
            bytes.extend_from_slice(content);
        }
        bytes
    }

    /// One function type without parameters or results.
    const TYPE: (u8, &[u8]) = (1, b"\x01\x60\0\0");

    #[test]
    fn an_empty_component_is_pure() {
        let component = binary(COMPONENT, &[(1, MODULE)]);
        let anatomy = anatomy(&component).unwrap();
        assert_eq!((anatomy.imports.len(), anatomy.start_functions), (0, 0));
        anatomy.check_pure().unwrap();
    }

    #[test]
    fn an_import_of_the_component_is_found() {
        // (type (func)) (import "clock" (func (type 0)))
        let component = binary(
            COMPONENT,
            &[(7, b"\x01\x40\0\x01\0"), (10, b"\x01\0\x05clock\x01\0")],
        );
        let anatomy = anatomy(&component).unwrap();
        assert_eq!(anatomy.imports, ["clock"]);
        let error = anatomy.check_pure().unwrap_err().to_string();
        assert_eq!(
            error,
            "the component must import nothing, but imports clock"
        );
    }

    #[test]
    fn an_import_of_the_core_module_is_found() {
        let module = binary(MODULE, &[TYPE, (2, b"\x01\x03env\x04time\0\0")]);
        let anatomy = anatomy(&binary(COMPONENT, &[(1, &module)])).unwrap();
        assert_eq!(anatomy.core_imports, ["env::time"]);
        assert!(anatomy.check_pure().is_err());
    }

    #[test]
    fn a_policy_may_import_artifacts_and_nothing_else() {
        let policy = Anatomy {
            imports: vec![ARTIFACTS.to_owned()],
            core_imports: vec![format!("{ARTIFACTS}::read")],
            ..Anatomy::default()
        };
        policy.check_policy().unwrap();
        assert!(policy.check_pure().is_err());
        let other = Anatomy {
            imports: vec![ARTIFACTS.to_owned(), "wasi:clocks/wall-clock".to_owned()],
            ..Anatomy::default()
        };
        assert_eq!(
            other.check_policy().unwrap_err().to_string(),
            "the component must import nothing but ralph:gate/artifacts@0.1.0, but imports wasi:clocks/wall-clock"
        );
        let other = Anatomy {
            core_imports: vec!["env::random".to_owned()],
            ..Anatomy::default()
        };
        assert!(other.check_policy().is_err());
        let starts = Anatomy {
            start_functions: 1,
            ..Anatomy::default()
        };
        assert!(starts.check_policy().is_err());
    }

    #[test]
    fn the_memory_may_import_its_disk_and_nothing_else() {
        let imports = |name: &str| Anatomy {
            imports: vec![name.to_owned()],
            core_imports: vec![format!("{name}::read")],
            ..Anatomy::default()
        };
        imports(DISK).check_memory().unwrap();
        let error = imports(ARTIFACTS).check_memory().unwrap_err().to_string();
        assert!(
            error.contains("nothing but ralph:gate/disk@0.1.0"),
            "{error}"
        );
    }

    #[test]
    fn the_gate_behind_http_handles_requests_and_reaches_nothing_else() {
        let component = |export: &str, import: &str| Anatomy {
            exports: vec![export.to_owned()],
            imports: vec![import.to_owned()],
            core_imports: vec![format!("{import}::[method]fields.get")],
            ..Anatomy::default()
        };
        let (handler, types) = ("wasi:http/incoming-handler@0.2.0", "wasi:http/types@0.2.0");
        component(handler, types).check_http().unwrap();
        for import in [
            "wasi:http/outgoing-handler@0.2.0",
            "wasi:clocks/monotonic-clock@0.2.0",
            "wasi:http/types@0.3.0",
            "wasi:http/types",
        ] {
            let error = component(handler, import).check_http().unwrap_err();
            assert!(error.to_string().contains(import), "{error}");
        }
        let error = component(types, types).check_http().unwrap_err();
        assert!(error.to_string().contains("must export"), "{error}");
        let error = Anatomy::default().check_http().unwrap_err();
        assert!(error.to_string().contains("must export"), "{error}");
    }

    #[test]
    fn handles_of_exported_resources_are_not_imports() {
        let import = b"\x01\x09[export]a\x12[resource-drop]res\0\0";
        let module = binary(MODULE, &[TYPE, (2, import)]);
        let anatomy = anatomy(&binary(COMPONENT, &[(1, &module)])).unwrap();
        assert_eq!(anatomy.intrinsics, ["[export]a::[resource-drop]res"]);
        anatomy.check_pure().unwrap();
    }

    #[test]
    fn a_start_function_is_found() {
        let module = binary(
            MODULE,
            &[TYPE, (3, b"\x01\0"), (8, b"\0"), (10, b"\x01\x02\0\x0b")],
        );
        let anatomy = anatomy(&binary(COMPONENT, &[(1, &module)])).unwrap();
        assert_eq!(anatomy.start_functions, 1);
        let error = anatomy.check_pure().unwrap_err().to_string();
        assert_eq!(
            error,
            "the component must have no start function, but has 1"
        );
    }

    #[test]
    fn what_is_no_component_is_refused() {
        let error = anatomy(MODULE).unwrap_err().to_string();
        assert_eq!(error, "this is not a WebAssembly component");
    }
}
