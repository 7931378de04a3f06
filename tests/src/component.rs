//! Components of policies, made from texts.

use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A policy that is made of a core module, in the text form of WebAssembly.
///
/// # Panics
///
/// If it does not export what a policy exports.
pub fn policy(core: &str) -> Vec<u8> {
    let mut module = wat::parse_str(core).expect("the text is right");
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let (package, _) = resolve.push_path(wit).expect("the project's own interface");
    let world = resolve
        .select_world(&[package], Some("check-policy"))
        .expect("its world");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .expect("it is described");
    ComponentEncoder::default()
        .module(&module)
        .and_then(|encoder| encoder.validate(true).encode())
        .expect("it becomes a component")
}
