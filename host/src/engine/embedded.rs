//! Loads the gate's machine code, which the build script compiled and this library carries.
//!
//! The code is a part of the program's own code: it is executable as soon as the program is, and its pages come from the
//! program's file when they are first used. Copying it into memory of its own took a third of the time that loading takes.

use std::ptr::NonNull;
use std::sync::Arc;

use wasmtime::component::Component;
use wasmtime::{Config, CustomCodeMemory, Engine};

/// What `host/build.rs` made out of the component.
const MADE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.cwasm"));

/// To which wasmtime aligns code inside of what it makes: the largest page that a system for this processor has.
#[cfg(target_arch = "x86_64")]
const PAGE: usize = 4 << 10;
#[cfg(not(target_arch = "x86_64"))]
const PAGE: usize = 64 << 10;

/// Bytes that begin at the beginning of a page.
#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(align(4096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(align(65536)))]
struct Pages([u8; MADE.len()]);

// SAFETY: beside code there may be bytes that are none: nothing jumps there but through `load`.
#[allow(unsafe_code, reason = "only the linker can put bytes beside code")]
#[unsafe(link_section = ".text.ralph_gate")]
static CODE: Pages = Pages(match MADE.as_array() {
    Some(made) => *made,
    None => panic!("it has as many bytes as it has"),
});

/// Code that is executable where it is.
struct InPlace;

impl CustomCodeMemory for InPlace {
    fn required_alignment(&self) -> usize {
        PAGE
    }

    fn publish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }

    fn unpublish_executable(&self, _: *const u8, _: usize) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// Says that code is run where it is. An engine that is set up like this loads nothing else.
pub(crate) fn in_place(config: &mut Config) {
    config.with_custom_code_memory(Some(Arc::new(InPlace)));
}

/// The gate, ready to be instantiated.
#[allow(
    unsafe_code,
    reason = "wasmtime can't verify machine code, it can only trust whoever compiled it"
)]
pub(crate) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize_raw` needs bytes that `Engine::precompile_component` made and that nobody changes, as long
    // as the component lives. `CODE` is written by this package's build script with exactly that function, and is part
    // of the program's own code, which nothing can write to. No path leads from a file, a cache or any input to this call.
    unsafe { Component::deserialize_raw(engine, NonNull::from_ref(&CODE.0)) }
}
