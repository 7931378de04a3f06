//! What policies are run by: once per process.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::Engine;

use super::cache::{CodeCache, Label};
use super::code::OwnCode;
use super::compile::{Compiler, compile};
use super::config;
use super::error::PolicyError;
use super::limits::PolicyLimits;
use super::policy::{Bill, Policy, Run};
use super::shipped::Shipped;
use super::ticker::Ticker;
use super::types::{Judgement, PolicyInput};
use super::worker::Workers;
use crate::evidence::{PolicyComponent, PolicyQuestion, PolicyRunner};
use crate::process::Stop;

/// How many policies are kept ready.
const KEPT: usize = 64;

/// Runs policies: compiles them, keeps them ready, and gives each call an instance of its own.
#[derive(Debug)]
pub struct PolicyHost {
    shared: Arc<Shared>,
    compiler: Compiler,
    cache: Option<CodeCache>,
    settings: blake3::Hash,
    /// Policies that are ready, and when each was asked for last.
    ready: Mutex<Ready>,
}

/// What every call needs.
pub(super) struct Shared {
    pub(super) engine: Engine,
    pub(super) ticker: Ticker,
    pub(super) workers: Workers,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Ready {
    policies: BTreeMap<([u8; 32], Wasi), (u64, Arc<Policy>)>,
    asked: u64,
}

/// What a policy gets of WASI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Wasi {
    /// Nothing: a policy that imports it is not run.
    #[default]
    Absent,
    /// One that denies everything.
    DenyAll,
}

impl PolicyHost {
    /// Makes one. Without a cache, every process compiles every policy.
    pub fn new(compiler: Compiler, cache: Option<CodeCache>) -> Result<Self, PolicyError> {
        let config = config::config(None).map_err(|error| wasmtime_failed(&error))?;
        let engine = Engine::new(&config).map_err(|error| wasmtime_failed(&error))?;
        let mut settings = Settings::default();
        engine.precompile_compatibility_hash().hash(&mut settings);
        Ok(Self {
            shared: Arc::new(Shared {
                ticker: Ticker::start(&engine).map_err(PolicyError::host)?,
                engine,
                workers: Workers::default(),
            }),
            compiler,
            cache,
            settings: settings.0.finalize(),
            ready: Mutex::default(),
        })
    }

    /// A policy, ready to be asked. What is ready stays ready, as long as others are not asked for instead.
    pub fn load(
        &self,
        component: &[u8],
        wasi: Wasi,
        limits: &PolicyLimits,
    ) -> Result<Arc<Policy>, PolicyError> {
        self.load_unless(component, wasi, limits, &never()?)
    }

    fn load_unless(
        &self,
        component: &[u8],
        wasi: Wasi,
        limits: &PolicyLimits,
        stop: &Stop,
    ) -> Result<Arc<Policy>, PolicyError> {
        let digest = see_that_it_fits(component, limits)?;
        self.ready(digest, wasi, || {
            let code = self.code(&digest, component, limits, stop)?;
            Policy::new(&self.shared, &code, digest, component.len(), wasi)
        })
    }

    /// Whether a component was compiled before. If not, it takes its time to load, which a person should be told.
    pub fn is_compiled(&self, component: &[u8]) -> bool {
        let digest = blake3::hash(component);
        let is_ready = |(known, _): &([u8; 32], Wasi)| known == digest.as_bytes();
        let label = Label {
            component: &digest,
            settings: &self.settings,
        };
        self.lock().policies.keys().any(is_ready)
            || self.cache.as_ref().is_some_and(|cache| cache.has(label))
    }

    /// What a component is made of and wants, whether it gets it or not.
    pub fn inspect(
        &self,
        component: &[u8],
        wasi: Wasi,
        limits: &PolicyLimits,
    ) -> Result<Bill, PolicyError> {
        let digest = see_that_it_fits(component, limits)?;
        let code = self.code(&digest, component, limits, &never()?)?;
        Bill::of_code(&self.shared, &code, digest, component.len(), wasi)
    }

    /// A policy that this program carries.
    pub fn load_shipped(&self, shipped: Shipped) -> Result<Arc<Policy>, PolicyError> {
        let parts = shipped.parts().ok_or(PolicyError::NotIncluded {
            policy: shipped.as_str(),
        })?;
        let digest = parts.digest();
        self.ready(digest, Wasi::Absent, || {
            let code = OwnCode::shipped(parts.code.get());
            Policy::new(
                &self.shared,
                &code,
                digest,
                shipped.component().len(),
                Wasi::Absent,
            )
        })
    }

    fn ready(
        &self,
        digest: blake3::Hash,
        wasi: Wasi,
        make: impl FnOnce() -> Result<Policy, PolicyError>,
    ) -> Result<Arc<Policy>, PolicyError> {
        let key = (*digest.as_bytes(), wasi);
        if let Some(policy) = self.lock().find(&key) {
            return Ok(policy);
        }
        // Without the lock: others need not wait for a compiler. Two may compile the same, which does no harm.
        let policy = Arc::new(make()?);
        self.lock().keep(key, Arc::clone(&policy));
        Ok(policy)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn code(
        &self,
        digest: &blake3::Hash,
        component: &[u8],
        limits: &PolicyLimits,
        stop: &Stop,
    ) -> Result<OwnCode, PolicyError> {
        let label = Label {
            component: digest,
            settings: &self.settings,
        };
        let cached = self
            .cache
            .as_ref()
            .and_then(|cache| cache.find(label, limits.code));
        if let Some(code) = cached {
            return Ok(code);
        }
        let code = compile(&self.compiler, component, limits, stop)?;
        if let Some(cache) = &self.cache {
            // A cache that can't be written costs time, nothing else.
            let _ = cache.keep(label, &code);
        }
        Ok(code)
    }
}

impl PolicyRunner for PolicyHost {
    fn judge(&self, question: &PolicyQuestion<'_>) -> Result<Run<Judgement>, PolicyError> {
        let policy = match question.component {
            PolicyComponent::Pinned(bytes) => {
                self.load_unless(bytes, question.wasi, question.limits, question.stop)?
            }
            PolicyComponent::Shipped(shipped) => self.load_shipped(shipped)?,
        };
        see_that_nothing_is_missing(&policy, question.input, question.limits)?;
        policy.evaluate(question.input, question.limits)
    }
}

/// Nobody ends it.
fn never() -> Result<Stop, PolicyError> {
    Stop::new().map_err(PolicyError::host)
}

fn see_that_it_fits(component: &[u8], limits: &PolicyLimits) -> Result<blake3::Hash, PolicyError> {
    if component.len() > limits.component {
        return Err(PolicyError::TooLarge {
            observed: component.len(),
            limit: limits.component,
        });
    }
    Ok(blake3::hash(component))
}

/// A policy is not asked without what it can't do without.
fn see_that_nothing_is_missing(
    policy: &Arc<Policy>,
    input: &PolicyInput,
    limits: &PolicyLimits,
) -> Result<(), PolicyError> {
    let is_there = |name: &String| input.artifacts.iter().any(|it| it.name == *name);
    let missing = policy
        .description(limits)?
        .wants
        .into_iter()
        .find(|name| !is_there(name));
    match missing {
        Some(name) => Err(PolicyError::Artifact { name }),
        None => Ok(()),
    }
}

impl Ready {
    fn find(&mut self, key: &([u8; 32], Wasi)) -> Option<Arc<Policy>> {
        self.asked += 1;
        let (asked, policy) = self.policies.get_mut(key)?;
        *asked = self.asked;
        Some(Arc::clone(policy))
    }

    fn keep(&mut self, key: ([u8; 32], Wasi), policy: Arc<Policy>) {
        if self.policies.len() >= KEPT {
            let oldest = self.policies.iter().min_by_key(|(_, (asked, _))| *asked);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                self.policies.remove(&oldest);
            }
        }
        self.policies.insert(key, (self.asked, policy));
    }
}

fn wasmtime_failed(error: &wasmtime::Error) -> PolicyError {
    PolicyError::host(format!("{error:#}"))
}

/// Digests what wasmtime hashes.
#[derive(Default)]
struct Settings(blake3::Hasher);

impl Hasher for Settings {
    fn finish(&self) -> u64 {
        // Nobody asks: the digest is taken as a whole.
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}
