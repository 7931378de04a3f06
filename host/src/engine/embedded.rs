//! Loads the gate's machine code, which the build script compiled and this library carries.
//!
//! On Linux the code is a part of the program's own code: it is executable as soon as the program is, and its pages come from
//! the program's file when they are first used. Copying it into memory of its own, as other systems do here, took a third of the
//! time that loading takes.
//!
//! wasmtime registers code by its address, so code that runs in place can be loaded only once in a process. [`load`] therefore
//! keeps what it loaded in place and shares it between all engines with the default stack size; an engine with another stack size
//! gets a copy of the code.

use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Config, Engine};

use super::config::config;
use super::exports::Exports;
use super::limits::{DEFAULT_STACK, MemoryLimiter};

/// What `host/build.rs` made out of the component.
const MADE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.cwasm"));

/// The gate's code, ready to be instantiated. A clone shares the code.
#[derive(Clone)]
pub(crate) struct LoadedGate {
    pub(crate) engine: Engine,
    pub(crate) template: InstancePre<MemoryLimiter>,
    pub(crate) exports: Arc<Exports>,
}

/// The gate for the usual stack size, as soon as it was loaded in this process.
static SHARED: Mutex<Option<LoadedGate>> = Mutex::new(None);

/// Loads the gate for calls that may use so many bytes of stack.
pub(crate) fn load(stack: usize) -> wasmtime::Result<LoadedGate> {
    if stack != DEFAULT_STACK {
        return LoadedGate::new(stack, CodeMemory::Copy);
    }
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = &*shared {
        return Ok(loaded.clone());
    }
    let loaded = LoadedGate::new(stack, CodeMemory::IN_PLACE)?;
    *shared = Some(loaded.clone());
    Ok(loaded)
}

/// Where the machine code of an engine is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeMemory {
    /// In the program's own code. Only one component may be loaded like this in a process.
    #[cfg(target_os = "linux")]
    InPlace,
    /// In memory of its own.
    Copy,
}

impl CodeMemory {
    #[cfg(target_os = "linux")]
    const IN_PLACE: Self = Self::InPlace;
    #[cfg(not(target_os = "linux"))]
    const IN_PLACE: Self = Self::Copy;
}

impl LoadedGate {
    fn new(stack: usize, memory: CodeMemory) -> wasmtime::Result<Self> {
        let mut config = config(env!("RALPH_GATE_TARGET"))?;
        // The code is compiled already: a compiler would only cost start-up time.
        config.enable_compiler(false);
        config.max_wasm_stack(stack);
        memory.set_up(&mut config);
        let engine = Engine::new(&config)?;
        let component = deserialize(&engine, memory)?;
        let exports = Arc::new(Exports::find(&component)?);
        // An empty linker: the gate imports nothing, and would not load if it did.
        let template = Linker::new(&engine).instantiate_pre(&component)?;
        Ok(Self {
            engine,
            template,
            exports,
        })
    }
}

impl CodeMemory {
    /// Tells an engine how its code becomes executable.
    fn set_up(self, config: &mut Config) {
        match self {
            #[cfg(target_os = "linux")]
            Self::InPlace => {
                config.with_custom_code_memory(Some(Arc::new(in_place::InPlace)));
            }
            Self::Copy => {
                let _ = config;
            }
        }
    }
}

#[allow(
    unsafe_code,
    reason = "wasmtime can't verify machine code, it can only trust whoever compiled it"
)]
fn deserialize(engine: &Engine, memory: CodeMemory) -> wasmtime::Result<Component> {
    // SAFETY: both functions need bytes that `Engine::precompile_component` made and that nobody changed since, the first one
    // as long as the component lives. The bytes are written by this package's build script with exactly that function, and are
    // part of the program itself, which nothing can write to. No path leads from a file, a cache or any input to this call.
    unsafe {
        match memory {
            #[cfg(target_os = "linux")]
            CodeMemory::InPlace => Component::deserialize_raw(engine, in_place::code()),
            #[cfg(target_os = "linux")]
            CodeMemory::Copy => Component::deserialize(engine, in_place::bytes()),
            #[cfg(not(target_os = "linux"))]
            CodeMemory::Copy => Component::deserialize(engine, MADE),
        }
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
        NonNull::from_ref(bytes())
    }

    pub(super) fn bytes() -> &'static [u8] {
        &CODE.0
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
