//! Loads the gate's machine code, which the build script compiled and this library carries.
//!
//! On Linux the code is a part of the program's own code: it is executable as soon as the program is, and its pages come from
//! the program's file when they are first used. Copying it into memory of its own, as other systems do here, took a third of the
//! time that loading takes.

use wasmtime::component::Component;
use wasmtime::{Config, Engine};

/// What `host/build.rs` made out of the component.
const MADE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.cwasm"));

/// Says how the code of an engine becomes executable. One that is set up like this loads nothing but the gate.
pub(crate) fn set_up(config: &mut Config) {
    #[cfg(target_os = "linux")]
    config.with_custom_code_memory(Some(std::sync::Arc::new(in_place::InPlace)));
    #[cfg(not(target_os = "linux"))]
    let _ = config;
}

/// The gate, ready to be instantiated.
#[allow(
    unsafe_code,
    reason = "wasmtime can't verify machine code, it can only trust whoever compiled it"
)]
pub(crate) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    // SAFETY: both functions need bytes that `Engine::precompile_component` made and that nobody changed since, the first one
    // as long as the component lives. The bytes are written by this package's build script with exactly that function, and are
    // part of the program itself, which nothing can write to. No path leads from a file, a cache or any input to this call.
    unsafe {
        #[cfg(target_os = "linux")]
        let component = Component::deserialize_raw(engine, in_place::code());
        #[cfg(not(target_os = "linux"))]
        let component = Component::deserialize(engine, MADE);
        component
    }
}

/// Code that is executable where the linker has put it.
#[cfg(target_os = "linux")]
mod in_place {
    use std::ptr::NonNull;

    use wasmtime::CustomCodeMemory;

    use super::MADE;

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

    pub(super) fn code() -> NonNull<[u8]> {
        NonNull::from_ref(&CODE.0)
    }

    pub(super) struct InPlace;

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
}
