//! Components of policies, made from texts.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A policy that is made of a core module, in the text form of WebAssembly.
///
/// # Panics
///
/// If it does not export what a policy exports.
pub fn policy(core: &str) -> Vec<u8> {
    let module = wat::parse_str(core).expect("the text is right");
    wrap(&module, "check-policy", &[], StringEncoding::UTF8).expect("it becomes a component")
}

/// A core module as a component of a world, which may be one of the project's own or of further files.
pub fn wrap(
    module: &[u8],
    world: &str,
    further: &[PathBuf],
    encoding: StringEncoding,
) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let (mut package, _) = resolve.push_path(wit)?;
    for file in further {
        package = resolve.push_file(file)?;
    }
    let world = resolve.select_world(&[package], Some(world))?;
    let mut module = module.to_owned();
    embed_component_metadata(&mut module, &resolve, world, encoding)?;
    ComponentEncoder::default()
        .validate(true)
        .module(&module)?
        .encode()
}
