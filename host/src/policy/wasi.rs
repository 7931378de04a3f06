//! A WASI that denies everything, for policies that were built with a standard library: no files, no environment, no
//! network, a clock that stands still, randomness that is the same every time, and output that goes to a bounded log.
//!
//! Only what such a library calls before it does anything useful is here; the rest traps when it is called. `wasmtime-wasi`
//! was left out: it brings an asynchronous runtime and an implementation of everything that is to be denied.

use wasmtime::StoreContextMut;
use wasmtime::component::{
    Component, ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, ResourceType,
};

use super::guest::Guest;

/// The most that is drawn of randomness at a time, in bytes.
const MOST_RANDOM: u64 = 64 << 10;
/// The most that is written at a time, in bytes.
const MOST_WRITTEN: u64 = 64 << 10;

/// Which of the two ways out a stream is, or the way in.
struct Stream;
/// Something that is ready at once.
struct Pollable;
/// What went wrong, which nothing does.
struct Error;
/// A terminal, of which there is none.
struct Terminal;

#[derive(Debug, Clone, Copy, ComponentType, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<Error>),
    #[component(name = "closed")]
    Closed,
}

type Written = (Result<(), StreamError>,);
type Store<'s> = StoreContextMut<'s, Guest>;

/// Whether an import is WASI's.
pub(super) fn is_wasi(import: &str) -> bool {
    import.starts_with("wasi:")
}

/// Gives a component every import that is WASI's and that it asks for.
pub(super) fn deny_all(
    linker: &mut Linker<Guest>,
    component: &Component,
    imports: &[String],
) -> wasmtime::Result<()> {
    for import in imports.iter().filter(|import| is_wasi(import)) {
        // Whatever the version: in 0.2 these functions did not change.
        let interface = import.split('@').next().unwrap_or(import);
        let mut instance = linker.instance(import)?;
        resources(&mut instance)?;
        define(interface, &mut instance)?;
    }
    // The host has looked at the imports before: all that is left is WASI's.
    linker.define_unknown_imports_as_traps(component)
}

/// Resources that interfaces have from one another, under the same name everywhere. So all interfaces get all of them:
/// what they don't ask for does no harm, and one that was left out would become another type.
fn resources(linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    resource::<Error>(linker, "error")?;
    resource::<Pollable>(linker, "pollable")?;
    resource::<Stream>(linker, "input-stream")?;
    resource::<Stream>(linker, "output-stream")?;
    resource::<Terminal>(linker, "terminal-input")?;
    resource::<Terminal>(linker, "terminal-output")
}

fn define(interface: &str, linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    match interface {
        "wasi:cli/environment" => environment(linker),
        "wasi:cli/exit" => exit(linker),
        "wasi:cli/stdin" => stream(linker, "get-stdin"),
        "wasi:cli/stdout" => stream(linker, "get-stdout"),
        "wasi:cli/stderr" => stream(linker, "get-stderr"),
        "wasi:cli/terminal-stdin" => no_terminal(linker, "get-terminal-stdin"),
        "wasi:cli/terminal-stdout" => no_terminal(linker, "get-terminal-stdout"),
        "wasi:cli/terminal-stderr" => no_terminal(linker, "get-terminal-stderr"),
        "wasi:io/poll" => poll(linker),
        "wasi:io/streams" => streams(linker),
        "wasi:clocks/wall-clock" => wall_clock(linker),
        "wasi:clocks/monotonic-clock" => monotonic_clock(linker),
        "wasi:random/random" => random(linker, "get-random-bytes", "get-random-u64"),
        "wasi:random/insecure" => random(
            linker,
            "get-insecure-random-bytes",
            "get-insecure-random-u64",
        ),
        "wasi:random/insecure-seed" => linker
            .func_wrap("insecure-seed", |mut store: Store<'_>, (): ()| {
                Ok(((number(&mut store), number(&mut store)),))
            }),
        "wasi:filesystem/preopens" => linker
            .func_wrap("get-directories", |_: Store<'_>, (): ()| {
                Ok((Vec::<(Resource<()>, String)>::new(),))
            }),
        _ => Ok(()),
    }
}

fn resource<T: 'static>(
    linker: &mut LinkerInstance<'_, Guest>,
    name: &str,
) -> wasmtime::Result<()> {
    linker.resource(name, ResourceType::host::<T>(), |_, _| Ok(()))
}

fn environment(linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    linker.func_wrap("get-environment", |_: Store<'_>, (): ()| {
        Ok((Vec::<(String, String)>::new(),))
    })?;
    linker.func_wrap("get-arguments", |_: Store<'_>, (): ()| {
        Ok((Vec::<String>::new(),))
    })?;
    linker.func_wrap("initial-cwd", |_: Store<'_>, (): ()| Ok((None::<String>,)))
}

fn exit(linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "exit",
        |_: Store<'_>, _: (Result<(), ()>,)| -> wasmtime::Result<()> { Err(left()) },
    )?;
    linker.func_wrap(
        "exit-with-code",
        |_: Store<'_>, _: (u8,)| -> wasmtime::Result<()> { Err(left()) },
    )
}

fn left() -> wasmtime::Error {
    wasmtime::Error::msg("it called exit")
}

fn stream(linker: &mut LinkerInstance<'_, Guest>, name: &str) -> wasmtime::Result<()> {
    linker.func_wrap(name, |_: Store<'_>, (): ()| {
        Ok((Resource::<Stream>::new_own(0),))
    })
}

fn no_terminal(linker: &mut LinkerInstance<'_, Guest>, name: &str) -> wasmtime::Result<()> {
    linker.func_wrap(name, |_: Store<'_>, (): ()| {
        Ok((None::<Resource<Terminal>>,))
    })
}

fn poll(linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "[method]pollable.ready",
        |_: Store<'_>, _: (Resource<Pollable>,)| Ok((true,)),
    )?;
    linker.func_wrap(
        "[method]pollable.block",
        |_: Store<'_>, _: (Resource<Pollable>,)| Ok(()),
    )?;
    linker.func_wrap(
        "poll",
        |_: Store<'_>, (all,): (Vec<Resource<Pollable>>,)| {
            let all = u32::try_from(all.len())?;
            Ok(((0..all).collect::<Vec<u32>>(),))
        },
    )
}

fn streams(linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    // Nothing can be read, and what is written goes to the log, whichever stream it is.
    for name in [
        "[method]input-stream.read",
        "[method]input-stream.blocking-read",
    ] {
        linker.func_wrap(name, |_: Store<'_>, _: (Resource<Stream>, u64)| {
            Ok((Err::<Vec<u8>, StreamError>(StreamError::Closed),))
        })?;
    }
    for name in [
        "[method]input-stream.subscribe",
        "[method]output-stream.subscribe",
    ] {
        linker.func_wrap(name, |_: Store<'_>, _: (Resource<Stream>,)| {
            Ok((Resource::<Pollable>::new_own(0),))
        })?;
    }
    linker.func_wrap(
        "[method]output-stream.check-write",
        |_: Store<'_>, _: (Resource<Stream>,)| Ok((Ok::<u64, StreamError>(MOST_WRITTEN),)),
    )?;
    for name in [
        "[method]output-stream.write",
        "[method]output-stream.blocking-write-and-flush",
    ] {
        linker.func_wrap(
            name,
            |mut store: Store<'_>, (_, bytes): (Resource<Stream>, Vec<u8>)| {
                store.data_mut().log.write(&bytes);
                Ok::<Written, _>((Ok(()),))
            },
        )?;
    }
    for name in [
        "[method]output-stream.flush",
        "[method]output-stream.blocking-flush",
    ] {
        linker.func_wrap(name, |_: Store<'_>, _: (Resource<Stream>,)| {
            Ok::<Written, _>((Ok(()),))
        })?;
    }
    Ok(())
}

fn wall_clock(linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    let at = |seconds, nanoseconds| {
        move |_: Store<'_>, (): ()| {
            Ok((Datetime {
                seconds,
                nanoseconds,
            },))
        }
    };
    linker.func_wrap("now", at(0, 0))?;
    linker.func_wrap("resolution", at(0, 1))
}

fn monotonic_clock(linker: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    linker.func_wrap("now", |_: Store<'_>, (): ()| Ok((0_u64,)))?;
    linker.func_wrap("resolution", |_: Store<'_>, (): ()| Ok((1_u64,)))?;
    for name in ["subscribe-instant", "subscribe-duration"] {
        linker.func_wrap(name, |_: Store<'_>, _: (u64,)| {
            Ok((Resource::<Pollable>::new_own(0),))
        })?;
    }
    Ok(())
}

fn random(linker: &mut LinkerInstance<'_, Guest>, bytes: &str, one: &str) -> wasmtime::Result<()> {
    linker.func_wrap(bytes, |mut store: Store<'_>, (length,): (u64,)| {
        if length > MOST_RANDOM {
            return Err(wasmtime::Error::msg(format!(
                "it asked for {length} random bytes; at most {MOST_RANDOM} are given at a time"
            )));
        }
        let mut bytes = vec![0; usize::try_from(length)?];
        draw(&mut store, &mut bytes);
        Ok((bytes,))
    })?;
    linker.func_wrap(one, |mut store: Store<'_>, (): ()| {
        Ok((number(&mut store),))
    })
}

/// The next bytes of a sequence that is the same in every call.
fn draw(store: &mut Store<'_>, bytes: &mut [u8]) {
    let guest = store.data_mut();
    let mut sequence =
        blake3::Hasher::new_derive_key("ralph-gate policy randomness").finalize_xof();
    sequence.set_position(guest.drawn);
    sequence.fill(bytes);
    guest.drawn = guest
        .drawn
        .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
}

fn number(store: &mut Store<'_>) -> u64 {
    let mut bytes = [0; 8];
    draw(store, &mut bytes);
    u64::from_le_bytes(bytes)
}
