//! Routing: the gate never touches what did not ask for it.

use serde::Serialize;

use crate::contract::draft::Extent;
use crate::contract::fields;
use crate::contract::profile::Profiles;
use crate::contract::{self, Contract, Enforcement, Mode};
use crate::error::{ErrorCode, GateError, Problem};
use crate::tree::decode::{Decoder, Path};
use crate::tree::{Node, Source, Value, recognise};
use crate::vocabulary::{Word, vocabulary};

vocabulary! {
    /// Why routing chose what it chose.
    RouteReason {
        /// The request has no mode.
        NotRequested = "not_requested",
        /// The request names the mode, or asks for a loop and has a check or a token.
        Requested = "requested",
        /// `auto`, with a required check.
        StrictChecks = "strict_checks",
        /// `auto`, without a required check.
        NoStrictChecks = "no_strict_checks",
        /// The kill switch.
        Disabled = "disabled",
    }
}

/// What an operator decides for every request.
#[derive(Debug, Clone)]
pub struct RoutingPolicy {
    ralph_enabled: bool,
    require_cost_budget: bool,
    profiles: Profiles,
}

impl Default for RoutingPolicy {
    fn default() -> Self {
        Self {
            ralph_enabled: true,
            require_cost_budget: false,
            profiles: Profiles::built_in(),
        }
    }
}

impl RoutingPolicy {
    /// Read a routing policy from a text in any format. An empty text is the default policy.
    pub fn parse(text: &str) -> Result<Self, GateError> {
        let source = Source::new(text, recognise(text));
        let node = source
            .read_settings()
            .map_err(|problem| invalid_policy(vec![problem]))?;
        Self::from_node(source, &node, Path::Root)
    }

    /// Take a routing policy from a tree that holds it.
    pub fn from_node(
        source: Source<'_>,
        node: &Node<'_>,
        path: Path<'_>,
    ) -> Result<Self, GateError> {
        let mut decoder = Decoder::new(source);
        let policy = Self::decode(&mut decoder, node, path);
        match decoder.into_problems() {
            problems if problems.is_empty() => Ok(policy),
            problems => Err(invalid_policy(problems)),
        }
    }

    fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Self {
        let mut policy = Self::default();
        if matches!(node.value, Value::Null) {
            return policy;
        }
        let Some(fields) = decoder.object(node, path, &fields::names(fields::POLICY_FIELDS)) else {
            return policy;
        };
        let mut flag = |name, default| match fields.get(name) {
            Some(node) => decoder.bool(node, path.field(name)).unwrap_or(default),
            None => default,
        };
        policy.ralph_enabled = flag("ralph_enabled", policy.ralph_enabled);
        policy.require_cost_budget = flag("require_cost_budget", policy.require_cost_budget);
        if let Some(node) = fields.get("$schema") {
            decoder.string(node, path.field("$schema"));
        }
        if let Some(node) = fields.get("profiles") {
            policy
                .profiles
                .extend(decoder, node, path.field("profiles"));
        }
        policy
    }
}

/// Where a request goes.
#[derive(Debug, Clone, Serialize)]
pub struct Routing {
    /// `standard` or `ralph`.
    pub mode: Mode,
    /// Why.
    pub reason: RouteReason,
    /// The profile that was applied.
    pub profile: Option<String>,
    /// Whether verdicts bind.
    pub enforcement: Enforcement,
    /// The effective contract in its canonical form. None in standard mode.
    pub contract: Option<String>,
    /// Its digest.
    pub digest: Option<String>,
    /// What is legal but weak; in standard mode also what is wrong, since it changes nothing there.
    pub warnings: Vec<Problem>,
}

fn invalid_policy(problems: Vec<Problem>) -> GateError {
    GateError::from_problems(ErrorCode::InvalidInput, "the routing policy", problems)
}

/// Decide where a request goes that is a text in any format.
pub fn route_text(request: &str, policy: &RoutingPolicy) -> Result<Routing, GateError> {
    let source = Source::new(request, recognise(request));
    let node = source.read_settings().map_err(|problem| {
        GateError::from_problems(ErrorCode::InvalidInput, "the request", vec![problem])
    })?;
    route(source, &node, Path::Root, policy)
}

/// Decide where a request goes. Only a request for the gate can fail.
pub fn route(
    source: Source<'_>,
    request: &Node<'_>,
    path: Path<'_>,
    policy: &RoutingPolicy,
) -> Result<Routing, GateError> {
    if !policy.ralph_enabled {
        return Ok(standard(RouteReason::Disabled, request, Vec::new()));
    }
    let linted = contract::decode(source, request, path, Extent::Request, &policy.profiles);
    match field(request, "mode") {
        None if !matches!(request.value, Value::Map(_)) => {}
        None if is_requested(request) => {}
        None => {
            return Ok(standard(
                RouteReason::NotRequested,
                request,
                linted.err().unwrap_or_default(),
            ));
        }
        Some(mode) if mode == Mode::Standard.as_str() => {
            return Ok(standard(
                RouteReason::Requested,
                request,
                linted.err().unwrap_or_default(),
            ));
        }
        Some(_) => {}
    }
    let mut linted = linted.map_err(contract::invalid)?;
    let (mode, reason) = match field(request, "mode") {
        None => requested(&linted.contract),
        Some(_) => resolve(&linted.contract),
    };
    if mode == Mode::Standard {
        return Ok(standard(reason, request, linted.warnings));
    }
    linted.contract.mode = mode;
    if policy.require_cost_budget && linted.contract.cost_budget_usd.is_none() {
        return Err(GateError {
            path: Some("cost_budget_usd".to_owned()),
            ..GateError::new(
                ErrorCode::CostBudgetRequired,
                "the routing policy demands a cost budget and the request has none; set `cost_budget_usd`",
            )
        });
    }
    Ok(Routing {
        mode,
        reason,
        profile: linted.contract.profile.clone(),
        enforcement: linted.contract.enforcement,
        digest: Some(linted.contract.digest()),
        contract: Some(linted.contract.canonical()),
        warnings: linted.warnings,
    })
}

/// The mode that a contract asks for, and why. `auto` is resolved.
pub fn resolve(contract: &Contract) -> (Mode, RouteReason) {
    match contract.mode {
        Mode::Standard => (Mode::Standard, RouteReason::Requested),
        Mode::Ralph => (Mode::Ralph, RouteReason::Requested),
        Mode::Auto if contract.required().next().is_some() => {
            (Mode::Ralph, RouteReason::StrictChecks)
        }
        Mode::Auto => (Mode::Standard, RouteReason::NoStrictChecks),
    }
}

/// Whether the request itself starts a loop.
fn is_requested(request: &Node<'_>) -> bool {
    let Value::Map(entries) = &request.value else {
        return false;
    };
    entries.iter().any(|entry| {
        entry.key == "requested" && !matches!(entry.node.value, Value::Null | Value::Bool(false))
    })
}

/// The mode of a request that starts a loop and names none: the gate's, if anything could prove it complete.
fn requested(contract: &Contract) -> (Mode, RouteReason) {
    if contract.completion_token.is_some() || !contract.completion_checks.is_empty() {
        (Mode::Ralph, RouteReason::Requested)
    } else {
        (Mode::Standard, RouteReason::NotRequested)
    }
}

fn standard(reason: RouteReason, request: &Node<'_>, warnings: Vec<Problem>) -> Routing {
    Routing {
        mode: Mode::Standard,
        reason,
        profile: field(request, "profile").filter(|name| !name.is_empty()),
        enforcement: Enforcement::Enforce,
        contract: None,
        digest: None,
        warnings,
    }
}

/// A field's text, without judging it. A mode that is not a string is left to the decoder.
fn field(request: &Node<'_>, name: &str) -> Option<String> {
    let Value::Map(entries) = &request.value else {
        return None;
    };
    let entry = entries.iter().find(|entry| entry.key == name)?;
    match &entry.node.value {
        Value::Null => None,
        Value::String(text) => Some(text.clone().into_owned()),
        _ => Some(String::new()),
    }
}
