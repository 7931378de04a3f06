//! One policy, ready to be asked: what it wants of its host, what it says of itself, and what it makes of evidence.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use wasmtime::component::{
    Component, ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Linker, Lower,
    types::ComponentItem,
};
use wasmtime::{Store, StoreContextMut, Trap};

use super::code::OwnCode;
use super::error::PolicyError;
use super::guest::{Guest, Log};
use super::host::{Shared, Wasi};
use super::limits::PolicyLimits;
use super::ticker::Ticker;
use super::types::{Artifact, Description, Judgement, PolicyInput};
use super::wasi::{deny_all, is_wasi};
use crate::evidence::beginning_of;

/// The longest reason or name that is handed on.
const REASON: usize = 400;

const POLICY: &str = "ralph:gate/policy@0.1.0";
const ARTIFACTS: &str = "ralph:gate/artifacts@0.1.0";

/// What wasmtime says when a result has more than it may have. Its error has no public type.
const TOO_MUCH: &str = "too much data";
/// What wasmtime says when there are too many instances, memories or tables.
const TOO_MANY: &str = "count too high at ";

/// A policy, ready to be asked.
pub struct Policy {
    shared: Arc<Shared>,
    template: InstancePre<Guest>,
    describe: ComponentExportIndex,
    evaluate: ComponentExportIndex,
    bill: Bill,
    /// What it said of itself. It says the same each time, if it is asked under the same limits.
    description: OnceLock<Description>,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Policy")
            .field("bill", &self.bill)
            .finish_non_exhaustive()
    }
}

/// What a component consists of, and what it wants of its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bill {
    /// BLAKE3 of the file, in hex.
    pub digest: String,
    /// Bytes of the file.
    pub size: usize,
    /// What it wants, by name.
    pub imports: Vec<Import>,
    /// What it offers, by name.
    pub exports: Vec<String>,
}

/// Something that a component wants of its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Import {
    /// The interface or function.
    pub name: String,
    /// Whether it gets it.
    pub grant: Grant,
}

/// What a policy gets of what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// The bytes of the artifacts that the check names.
    Artifacts,
    /// A WASI that denies everything.
    DenyAll,
    /// Nothing: it is not run.
    Denied,
}

/// What one call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run<T> {
    /// What it gave, or which limit it reached.
    pub result: Result<T, PolicyError>,
    /// Units of fuel that it used, its start-up included.
    pub fuel: u64,
    /// Bytes of its memories and tables at the end, which is when there are most.
    pub memory: usize,
    /// How long it took.
    pub elapsed: Duration,
    /// How long processors worked for it.
    pub worked: Duration,
    /// What it printed.
    pub log: Log,
}

impl Policy {
    pub(super) fn new(
        shared: &Arc<Shared>,
        code: &OwnCode,
        digest: blake3::Hash,
        size: usize,
        wasi: Wasi,
    ) -> Result<Self, PolicyError> {
        let component = code
            .load(&shared.engine)
            .map_err(|error| PolicyError::host(format!("{error:#}")))?;
        let bill = Bill::of(shared, &component, digest, size, wasi);
        if let Some(denied) = bill.imports.iter().find(|it| it.grant == Grant::Denied) {
            return Err(PolicyError::Import {
                import: short(denied.name.clone()),
            });
        }
        let wrong_world = |error: wasmtime::Error| PolicyError::WrongWorld {
            reason: short(format!("{error:#}")),
        };
        let imports: Vec<String> = bill.imports.iter().map(|it| it.name.clone()).collect();
        let mut linker = Linker::new(&shared.engine);
        link(&mut linker, &component, &imports).map_err(wrong_world)?;
        let template = linker.instantiate_pre(&component).map_err(wrong_world)?;
        Ok(Self {
            shared: Arc::clone(shared),
            template,
            describe: export(&component, "describe")?,
            evaluate: export(&component, "evaluate")?,
            bill,
            description: OnceLock::new(),
        })
    }

    /// What it is made of, and what it wants.
    pub fn bill(&self) -> &Bill {
        &self.bill
    }

    /// What it says of itself.
    pub fn describe(
        self: &Arc<Self>,
        limits: &PolicyLimits,
    ) -> Result<Run<Description>, PolicyError> {
        let (policy, limits) = (Arc::clone(self), *limits);
        let worker = Arc::clone(&self.shared);
        worker.workers.run(move || {
            let none = Arc::from(Vec::new());
            let run = policy.call::<(), Description>(&policy.describe, (), none, &limits);
            run.checked(|said| check_description(said, &limits))
        })
    }

    /// What it says of itself, asked once.
    pub fn description(
        self: &Arc<Self>,
        limits: &PolicyLimits,
    ) -> Result<Description, PolicyError> {
        if let Some(known) = self.description.get() {
            return Ok(known.clone());
        }
        let said = self.describe(limits)?.result?;
        Ok(self.description.get_or_init(|| said).clone())
    }

    /// What it makes of evidence. It fails only where the host can't run anything; everything else is in the result.
    pub fn evaluate(
        self: &Arc<Self>,
        input: &PolicyInput,
        limits: &PolicyLimits,
    ) -> Result<Run<Judgement>, PolicyError> {
        let (policy, limits) = (Arc::clone(self), *limits);
        let (evidence, settings) = (input.evidence(), input.settings().to_owned());
        let artifacts: Arc<[Artifact]> = Arc::from(input.artifacts.clone());
        let worker = Arc::clone(&self.shared);
        worker.workers.run(move || {
            let run = policy.call::<_, Judgement>(
                &policy.evaluate,
                (evidence, settings),
                artifacts,
                &limits,
            );
            run.checked(|judgement| check_judgement(judgement, &limits))
        })
    }

    /// One call, in an instance and a store of its own. Must have a stack of a known size before it.
    fn call<P, R>(
        &self,
        function: &ComponentExportIndex,
        parameters: P,
        artifacts: Arc<[Artifact]>,
        limits: &PolicyLimits,
    ) -> Run<R>
    where
        P: ComponentNamedList + Lower,
        R: Lift + Send + Sync + 'static,
        (R,): ComponentNamedList + Lift,
    {
        let (begun, work) = (Instant::now(), work_so_far());
        let mut store = Store::new(&self.shared.engine, Guest::new(limits, artifacts));
        store.limiter(|guest| guest);
        store.set_hostcall_fuel(limits.lifted);
        let running = self.shared.ticker.running();
        store.set_epoch_deadline(Ticker::epochs(limits.time));
        let result = store
            .set_fuel(limits.fuel)
            .and_then(|()| self.template.instantiate(&mut store))
            .and_then(|instance| instance.get_typed_func::<P, (R,)>(&mut store, function))
            .and_then(|function| function.call(&mut store, parameters));
        drop(running);
        let elapsed = begun.elapsed();
        let fuel = limits.fuel.saturating_sub(store.get_fuel().unwrap_or(0));
        let guest = store.into_data();
        Run {
            result: result
                .map(|(value,)| value)
                .map_err(|error| explain(&error, guest.reached, elapsed, limits)),
            fuel,
            memory: guest.memory,
            elapsed,
            // With the clearing away, which takes the longer the more memory there was.
            worked: work_so_far().saturating_sub(work),
            log: guest.log,
        }
    }
}

impl<T> Run<T> {
    /// Of a policy that was not even called.
    pub fn refused(error: PolicyError) -> Self {
        Self {
            result: Err(error),
            fuel: 0,
            memory: 0,
            elapsed: Duration::ZERO,
            worked: Duration::ZERO,
            log: Log::default(),
        }
    }

    fn checked(mut self, check: impl FnOnce(&T) -> Result<(), PolicyError>) -> Self {
        self.result = self.result.and_then(|value| check(&value).map(|()| value));
        self
    }
}

impl Bill {
    pub(super) fn of_code(
        shared: &Shared,
        code: &OwnCode,
        digest: blake3::Hash,
        size: usize,
        wasi: Wasi,
    ) -> Result<Self, PolicyError> {
        let component = code
            .load(&shared.engine)
            .map_err(|error| PolicyError::host(format!("{error:#}")))?;
        Ok(Self::of(shared, &component, digest, size, wasi))
    }

    fn of(
        shared: &Shared,
        component: &Component,
        digest: blake3::Hash,
        size: usize,
        wasi: Wasi,
    ) -> Self {
        let of = component.component_type();
        let grant = |name: &str| match wasi {
            _ if name == ARTIFACTS => Grant::Artifacts,
            Wasi::DenyAll if is_wasi(name) => Grant::DenyAll,
            _ => Grant::Denied,
        };
        let imports = of.imports(&shared.engine);
        let mut imports: Vec<Import> = imports
            .filter(|(_, item)| wants_something(shared, &item.ty))
            .map(|(name, _)| Import {
                name: name.to_owned(),
                grant: grant(name),
            })
            .collect();
        imports.sort_by(|one, other| one.name.cmp(&other.name));
        let mut exports: Vec<String> = of
            .exports(&shared.engine)
            .map(|(name, _)| name.to_owned())
            .collect();
        exports.sort();
        Self {
            digest: digest.to_hex().to_string(),
            size,
            imports,
            exports,
        }
    }
}

/// How much processors have worked for this thread.
fn work_so_far() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

/// Whether an import is more than names of types.
fn wants_something(shared: &Shared, item: &ComponentItem) -> bool {
    match item {
        ComponentItem::ComponentInstance(instance) => instance
            .exports(&shared.engine)
            .any(|(_, item)| wants_something(shared, &item.ty)),
        ComponentItem::Type(_) => false,
        _ => true,
    }
}

fn link(
    linker: &mut Linker<Guest>,
    component: &Component,
    imports: &[String],
) -> wasmtime::Result<()> {
    let read = |mut store: StoreContextMut<'_, Guest>,
                (name, offset, length): (String, u64, u32)| {
        Ok((store.data_mut().read(&name, offset, length),))
    };
    linker.instance(ARTIFACTS)?.func_wrap("read", read)?;
    if imports.iter().any(|import| is_wasi(import)) {
        deny_all(linker, component, imports)?;
    }
    Ok(())
}

fn export(component: &Component, name: &str) -> Result<ComponentExportIndex, PolicyError> {
    component
        .get_export_index(None, POLICY)
        .and_then(|interface| component.get_export(Some(&interface), name))
        .filter(|(item, _)| matches!(item, ComponentItem::ComponentFunc(_)))
        .map(|(_, index)| index)
        .ok_or_else(|| PolicyError::WrongWorld {
            reason: format!("it does not export {POLICY} with the function {name}"),
        })
}

/// What happened, from what wasmtime says and what the guest's limits remember.
fn explain(
    error: &wasmtime::Error,
    reached: Option<PolicyError>,
    elapsed: Duration,
    limits: &PolicyLimits,
) -> PolicyError {
    if let Some(reached) = reached {
        return reached;
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => {
            return PolicyError::Fuel {
                observed: limits.fuel,
                limit: limits.fuel,
            };
        }
        Some(Trap::Interrupt) => {
            return PolicyError::Time {
                observed: elapsed,
                limit: limits.time,
            };
        }
        Some(Trap::StackOverflow) => {
            return PolicyError::Stack {
                limit: PolicyLimits::STACK,
            };
        }
        Some(trap) => {
            return PolicyError::Trap {
                reason: trap.to_string(),
            };
        }
        None => {}
    }
    let text = format!("{error:#}");
    if text.contains(TOO_MUCH) {
        return PolicyError::Lifted {
            limit: limits.lifted,
        };
    }
    if let Some((before, number)) = text.split_once(TOO_MANY) {
        let (what, limit) = match before {
            _ if before.contains("memory") => ("memories", limits.memories),
            _ if before.contains("table") => ("tables", limits.instances),
            _ => ("instances", limits.instances),
        };
        let number = number.split(|it: char| !it.is_ascii_digit()).next();
        return PolicyError::Instances {
            what,
            observed: number.and_then(|it| it.parse().ok()).unwrap_or_default(),
            limit,
        };
    }
    let (is_mismatch, reason) = (text.contains("type mismatch"), short(text));
    if is_mismatch {
        PolicyError::WrongWorld { reason }
    } else {
        PolicyError::Trap { reason }
    }
}

/// Names in a component can be as long as a book.
fn short(text: String) -> String {
    beginning_of(text, REASON)
}

fn check_judgement(judgement: &Judgement, limits: &PolicyLimits) -> Result<(), PolicyError> {
    at_most(
        "the judgement",
        "reasons",
        judgement.reasons.len(),
        limits.reasons,
    )?;
    judgement
        .reasons
        .iter()
        .try_for_each(|reason| at_most("a reason", "bytes", reason.len(), limits.reason))
}

fn check_description(said: &Description, limits: &PolicyLimits) -> Result<(), PolicyError> {
    at_most("the description", "wants", said.wants.len(), limits.reasons)?;
    let texts = [&said.name, &said.version, &said.summary];
    let texts = texts.into_iter().chain(&said.wants);
    for text in texts {
        at_most(
            "the description",
            "bytes in a text",
            text.len(),
            limits.reason,
        )?;
    }
    Ok(())
}

fn at_most(
    what: &str,
    unit: &'static str,
    observed: usize,
    limit: usize,
) -> Result<(), PolicyError> {
    if observed <= limit {
        return Ok(());
    }
    Err(PolicyError::Result {
        what: what.to_owned(),
        unit,
        observed,
        limit,
    })
}
