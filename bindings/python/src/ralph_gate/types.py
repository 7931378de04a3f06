"""What the gate takes and gives, as Python types.

Made from wit/gate.wit and gate-component/schemas by `BLESS=1 cargo test --package xtask python`. Don't edit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Optional, TypedDict, Union

__all__ = [
    "Action",
    "Artifact",
    "ArtifactKind",
    "Brief",
    "CheckAssessment",
    "CheckResult",
    "CompletionCheck",
    "CompletionToken",
    "ContextEntry",
    "ContextKind",
    "Contract",
    "ContractReport",
    "Counters",
    "Decision",
    "Enforcement",
    "ErrorCode",
    "Failure",
    "FailureCode",
    "Fingerprint",
    "FingerprintPart",
    "Guardrail",
    "Issue",
    "IssueFile",
    "IssueStates",
    "Iteration",
    "LoopFile",
    "LoopFileChange",
    "Mode",
    "Need",
    "NeedKind",
    "OperatorNote",
    "Outcome",
    "Prd",
    "PrdItem",
    "PrdShape",
    "PrdUpdate",
    "Problem",
    "ProgressEntry",
    "ProgressLog",
    "PromiseReport",
    "PromiseRules",
    "PromiseTag",
    "Resumption",
    "RouteReason",
    "Routing",
    "ShadowVerdict",
    "Signal",
    "SignalReport",
    "SnapshotView",
    "StopReason",
    "TagStatus",
    "Tampering",
    "TextFormat",
    "ToolOutput",
    "Usage",
    "Verdict",
    "Waiver",
]


ErrorCode = Literal[
    "invalid_json",  # The input is not valid JSON (JSON face only).
    "invalid_input",  # The input is well-formed, but a field is missing, unknown, of the wrong type or out of range.
    "invalid_contract",  # The contract has at least one problem; `problems` lists all of them.
    "contract_changed",  # The contract is not the one that this loop began with. An operator can accept it with `resume`.
    "unknown_profile",  # The request or contract names a profile that does not exist.
    "cost_budget_required",  # The routing policy demands a cost budget and the contract has none.
    "iteration_out_of_order",  # The iteration's index is not the snapshot's plus one. Without a snapshot it is 1, or 0 for a baseline.
    "loop_stopped",  # The loop has stopped. It accepts no further iteration until it is resumed.
    "invalid_snapshot",  # The snapshot is damaged or is not a snapshot.
    "unsupported_snapshot",  # The snapshot was written by a gate that is newer, or too old.
    "invalid_file",  # The prd, progress or loop state file can't be read.
    "unknown_function",  # The JSON face has no such function.
]
"""Why a call could not be answered. Closed: a host may match on it exhaustively."""


@dataclass
class Problem:
    """One thing that is wrong with a text, at its place."""

    path: str
    """Where in the structure, for example `completion_checks[1].id`. Empty for the whole text."""

    line: int
    """Line in the text, from 1. 0 when there is no text (a record of the typed face)."""

    column: int
    """Column in the text, from 1, in characters. 0 when unknown."""

    message: str
    """One sentence: what is wrong."""

    help: Optional[str]
    """What to do about it, for example "did you mean `loop_max_iters`?"."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Problem:
        """From the gate's answer."""
        return cls(
            path=value["path"],
            line=value["line"],
            column=value["column"],
            message=value["message"],
            help=value["help"],
        )


TextFormat = Literal[
    "json",
    "yaml",
    "toml",
]
"""How a contract, request or routing policy is written."""


Mode = Literal[
    "standard",  # The harness's own completion: nothing intercepted, no state written.
    "ralph",  # The gate decides.
    "auto",  # `ralph` if there is at least one required check, else `standard`.
]
"""What the harness asked for, or was given by routing."""


Enforcement = Literal[
    "enforce",  # The verdict is the answer.
    "shadow",  # Everything is evaluated, nothing is intercepted: see `verdict.shadow`.
]
"""Whether verdicts bind."""


PromiseRules = Literal[
    "strict",  # Only the last thing in the output, alone on its line, outside code, quotes, raw HTML and comments.
    "lenient",  # The first tag anywhere.
]
"""Which promises count."""


@dataclass
class ContractReport:
    """The result of reading a contract."""

    valid: bool
    """True when there is no problem. Warnings do not make a contract invalid."""

    problems: list[Problem]
    """Every problem, in the order of the text."""

    warnings: list[Problem]
    """What is legal but weak."""

    contract: Optional[str]
    """The effective contract in its canonical JSON form: profile applied, defaults filled in."""

    digest: Optional[str]
    """The digest of `contract`, which snapshots pin."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ContractReport:
        """From the gate's answer."""
        return cls(
            valid=value["valid"],
            problems=[Problem.from_json(item) for item in value["problems"]],
            warnings=[Problem.from_json(item) for item in value["warnings"]],
            contract=value["contract"],
            digest=value["digest"],
        )


RouteReason = Literal[
    "not_requested",  # The request has no `mode` and starts no loop, or nothing could prove that loop complete.
    "requested",  # The request names the mode; or it names none, starts a loop (`requested: true`, which the host sets) and has a check or a token, and the mode is `ralph`.
    "strict_checks",  # `auto`, and the request has a required completion check.
    "no_strict_checks",  # `auto`, and the request has no required completion check.
    "disabled",  # The routing policy's kill switch is off. Memory files are kept and ignored.
]
"""Why routing chose what it chose."""


@dataclass
class Routing:
    """Where a request goes."""

    mode: Mode
    """`standard` or `ralph`, never `auto`."""

    reason: RouteReason

    profile: Optional[str]

    enforcement: Enforcement

    contract: Optional[str]
    """The effective contract in its canonical JSON form. None in standard mode."""

    digest: Optional[str]
    """Its digest."""

    warnings: list[Problem]
    """What is legal but weak."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Routing:
        """From the gate's answer."""
        return cls(
            mode=value["mode"],
            reason=value["reason"],
            profile=value["profile"],
            enforcement=value["enforcement"],
            contract=value["contract"],
            digest=value["digest"],
            warnings=[Problem.from_json(item) for item in value["warnings"]],
        )


Action = Literal[
    "final",  # It tried to end the loop.
    "continue",  # It wants another turn.
    "error",  # The iteration failed.
    "timeout",  # The host ended the iteration because it ran too long.
]
"""What the agent did at the end of the iteration."""


Outcome = Literal[
    "pass",
    "fail",
    "unknown",  # The check could not tell.
    "error",  # The check itself broke.
    "timeout",  # The check ran longer than it may.
    "flaky",  # The host saw it both pass and fail on the same state.
]
"""What a check found. Only `pass` passes."""


FailureCode = Literal[
    "check_failed",
    "check_errored",
    "check_timed_out",
    "check_flaky",
    "missing_evidence",
    "stale_evidence",
    "evidence_tampered",
    "token_missing",
    "token_mismatch",
    "promise_conflict",
    "promise_misplaced",
    "promise_continue",
    "policy_trapped",
    "policy_out_of_fuel",
    "policy_out_of_memory",
    "policy_rejected",
    "ratio_not_met",
    "control_failed",  # A control test was not reported as it must be: what runs the check can't be believed.
    "check_unavailable",  # What the check needs, such as its program, does not exist here.
]
"""The closed taxonomy of what stands between an iteration and `completed`."""


@dataclass
class CheckResult:
    """One check's result: evidence that the host gathered."""

    id: str

    outcome: Outcome

    reason: Optional[str] = None
    """Why, for a person and for the agent's next turn."""

    code: Optional[FailureCode] = None
    """A more exact cause than the outcome gives: `evidence-tampered`, `control-failed`, `check-unavailable` or one of
    the `policy-…` codes. With a code the result does not pass.
    """

    attempts: list[Outcome] = field(default_factory=list)
    """The outcome of each try in order, when the check was rerun. The last one is `outcome`. Reruns that the contract
    does not allow (`retries`, `retry_on`) can't make a pass, and can't unmake a failure.
    """

    iteration: Optional[int] = None
    """The iteration that this evidence was gathered in. Another one than this: stale."""

    fingerprint: Optional[str] = None
    """The `fingerprint.state` that this evidence was gathered on. Another one than this: stale."""

    failing: Optional[int] = None
    """How many tests failed, where the check counts them: fewer than ever is progress for `plateau_limit`."""

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "id": self.id,
            "outcome": self.outcome,
            "reason": self.reason,
            "code": self.code,
            "attempts": self.attempts,
            "iteration": self.iteration,
            "fingerprint": self.fingerprint,
            "failing": self.failing,
        }


ArtifactKind = Literal[
    "yaml",  # Parsed; keys sorted, comments and layout gone.
    "json",  # Parsed; keys sorted, layout gone.
    "text",  # Colour codes, trailing space and volatile runs (times, addresses, …) masked.
    "digest",  # Taken as it is, for example a git tree id.
]
"""How an artifact's content is made canonical before it is digested."""


@dataclass
class Artifact:
    """Something the agent works on."""

    name: str

    kind: ArtifactKind

    content: str

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "name": self.name,
            "kind": self.kind,
            "content": self.content,
        }


@dataclass
class ToolOutput:
    """What a tool printed, as far as it shows progress."""

    name: str

    content: str

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "name": self.name,
            "content": self.content,
        }


@dataclass
class Tampering:
    """Something that was changed although it may not be."""

    what: str
    """What was changed, for example a path."""

    reason: str

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "what": self.what,
            "reason": self.reason,
        }


@dataclass
class Usage:
    """What this iteration used. The gate adds it up."""

    elapsed_ms: int = 0

    tool_calls: int = 0

    cost_usd: Optional[str] = None
    """Exact decimal, for example `0.14`. None is nothing."""

    tokens: int = 0

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "elapsed_ms": self.elapsed_ms,
            "tool_calls": self.tool_calls,
            "cost_usd": self.cost_usd,
            "tokens": self.tokens,
        }


@dataclass
class OperatorNote:
    """A person who decided something, and why."""

    operator: str

    reason: str

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "operator": self.operator,
            "reason": self.reason,
        }


@dataclass
class Waiver:
    """A check that an operator does without in this loop. The host must have authenticated the operator."""

    check: str

    operator: str

    reason: str

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "check": self.check,
            "operator": self.operator,
            "reason": self.reason,
        }


@dataclass
class Iteration:
    """One turn of the agent, as data.

    A new loop may begin with iteration 0, the baseline: evidence of the run before the first iteration. Of it
    only `checks`, `artifacts`, `tool-outputs`, `tampered` and `waivers` count; the other fields are ignored. The decision is
    always `continue` (`pass-through` in standard mode and in shadow), nothing is added to a budget or compared for
    progress, and there is no feedback. `failures` lists the checks that don't pass; without one of a check,
    everything that is required passes already. The snapshot remembers what each check gave on
    `fingerprint.state`: a later pass on the same state after a failure is flaky. Iteration 1 follows.
    """

    index: int
    """From 1, one more than the last. 0 only where there is no snapshot yet."""

    action: Action

    canceled: bool = False
    """The person or the harness canceled the loop."""

    output: str = ""
    """What the agent wrote."""

    checks: list[CheckResult] = field(default_factory=list)

    artifacts: list[Artifact] = field(default_factory=list)

    tool_outputs: list[ToolOutput] = field(default_factory=list)

    tampered: list[Tampering] = field(default_factory=list)

    usage: Usage = field(default_factory=Usage)

    override: Optional[OperatorNote] = None
    """An operator completes the loop by hand."""

    waivers: list[Waiver] = field(default_factory=list)
    """Checks that count as passed from now on, until the loop ends. Tampering can't be waived. Where the contract says
    `allow_override: false` they are passed over.
    """

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "index": self.index,
            "action": self.action,
            "canceled": self.canceled,
            "output": self.output,
            "checks": [item.to_json() for item in self.checks],
            "artifacts": [item.to_json() for item in self.artifacts],
            "tool_outputs": [item.to_json() for item in self.tool_outputs],
            "tampered": [item.to_json() for item in self.tampered],
            "usage": self.usage.to_json(),
            "override": None if self.override is None else self.override.to_json(),
            "waivers": [item.to_json() for item in self.waivers],
        }


Decision = Literal[
    "continue",  # Go on with another iteration.
    "stop",  # End the loop.
    "pass_through",  # Do what it would have done without the gate.
]
"""What the harness must do."""


StopReason = Literal[
    "completed",
    "max_iters",
    "no_progress",
    "budget_exceeded",
    "context_canceled",
    "blocked",
    "error",
]
"""Why a loop ended."""


Signal = Literal[
    "LOOP_DONE",
    "LOOP_CONTINUE",
    "LOOP_BLOCKED",
    "LOOP_ERROR",
]
"""The loop vocabulary."""


@dataclass
class Failure:
    """One reason why the iteration is not complete."""

    code: FailureCode

    check: Optional[str]
    """The check, where the failure belongs to one."""

    reason: str

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Failure:
        """From the gate's answer."""
        return cls(
            code=value["code"],
            check=value["check"],
            reason=value["reason"],
        )


NeedKind = Literal[
    "final",  # The agent ends its turn with a final.
    "check_pass",  # The check `check` passes.
    "optional_checks_pass",  # `count` more of the optional checks in `checks` pass.
    "promise",  # The output ends with a promise of `text`.
    "no_contrary_signal",  # No signal to the contrary in the output.
    "untampered",  # Nothing is tampered with.
]
"""What kind of fact is missing."""


@dataclass
class Need:
    """One fact that has to become true. All of them together complete the loop."""

    kind: NeedKind

    check: Optional[str]

    checks: list[str]

    count: int

    text: Optional[str]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Need:
        """From the gate's answer."""
        return cls(
            kind=value["kind"],
            check=value["check"],
            checks=value["checks"],
            count=value["count"],
            text=value["text"],
        )


TagStatus = Literal[
    "accepted",
    "not_last",  # Something other than one context block follows it.
    "not_first",  # An earlier tag counts (lenient rules).
    "in_fenced_code",
    "in_inline_code",
    "in_block_quote",
    "in_comment",
    "in_html_block",
    "in_indented_code",  # Indented by four spaces or more, as code is.
    "not_alone",  # Something else stands on its line. A context block may follow.
    "nested",  # Around another promise, or behind an open tag that was not closed.
    "unclosed",  # There is no closing tag.
    "empty",
    "conflicting",  # Another promise in the same output says something else.
]
"""Why a promise tag was or was not accepted."""


@dataclass
class PromiseTag:
    """One promise tag."""

    offset: int
    """Byte offset of `<promise>` in the output. Escape sequences are left out before tags are looked for, and counted."""

    length: int
    """Bytes to the end of the closing tag."""

    text: str
    """The text, white space collapsed, at most 200 bytes."""

    status: TagStatus

    reason: str
    """One sentence for a person."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PromiseTag:
        """From the gate's answer."""
        return cls(
            offset=value["offset"],
            length=value["length"],
            text=value["text"],
            status=value["status"],
            reason=value["reason"],
        )


ContextKind = Literal[
    "text",
    "number",
    "boolean",
    "empty",
]
"""The type that a context value was written in."""


@dataclass
class ContextEntry:
    """One line of the `<context>` block."""

    key: str

    kind: ContextKind

    value: str

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ContextEntry:
        """From the gate's answer."""
        return cls(
            key=value["key"],
            kind=value["kind"],
            value=value["value"],
        )


@dataclass
class PromiseReport:
    """What the output promises."""

    accepted: Optional[str]
    """The text of the promise that counts."""

    signal: Optional[Signal]
    """The loop signal, when the accepted text is one."""

    conflict: bool
    """Two promises that would otherwise count say different things."""

    found: int
    """How many tags there are; `tags` lists the first 32, the last 32 and the one that counts."""

    tags: list[PromiseTag]

    context: list[ContextEntry]

    context_warning: Optional[str]
    """Why the context block could not be read. Never a failure."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PromiseReport:
        """From the gate's answer."""
        return cls(
            accepted=value["accepted"],
            signal=value["signal"],
            conflict=value["conflict"],
            found=value["found"],
            tags=[PromiseTag.from_json(item) for item in value["tags"]],
            context=[ContextEntry.from_json(item) for item in value["context"]],
            context_warning=value["context_warning"],
        )


@dataclass
class FingerprintPart:
    """One part of the fingerprint."""

    name: str
    """`artifact:NAME`, `tool:NAME`, `output` or `checks`."""

    digest: str

    unchanged_for: int
    """How many iterations in a row it has been the same, this one included."""

    note: Optional[str]
    """Set when the content could not be parsed as its kind and was digested as text instead."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> FingerprintPart:
        """From the gate's answer."""
        return cls(
            name=value["name"],
            digest=value["digest"],
            unchanged_for=value["unchanged_for"],
            note=value["note"],
        )


@dataclass
class Fingerprint:
    """What the work looks like, so that two equal iterations can be recognised."""

    digest: str

    state: Optional[str]
    """Digest of the artifacts alone: what evidence refers to. None without artifacts."""

    counted: bool
    """False when there was nothing to compare, for a baseline, and after an error or a timeout: such an iteration never
    counts as no progress.
    """

    parts: list[FingerprintPart]

    equal_in_a_row: int
    """Equal iterations in a row, this one included. Iterations that errored or timed out are not compared: they neither
    count nor end the row, and have 0 here.
    """

    diagnosis: str
    """What has stayed the same, since when. Empty while there is progress."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Fingerprint:
        """From the gate's answer."""
        return cls(
            digest=value["digest"],
            state=value["state"],
            counted=value["counted"],
            parts=[FingerprintPart.from_json(item) for item in value["parts"]],
            equal_in_a_row=value["equal_in_a_row"],
            diagnosis=value["diagnosis"],
        )


@dataclass
class Guardrail:
    """How close one guardrail is. The names are those of the contract's fields."""

    name: str

    used: str

    limit: str

    percent: int
    """Rounded down."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Guardrail:
        """From the gate's answer."""
        return cls(
            name=value["name"],
            used=value["used"],
            limit=value["limit"],
            percent=value["percent"],
        )


@dataclass
class Counters:
    """Totals over the loop, this iteration included."""

    iteration: int

    elapsed_ms: int

    tool_calls: int

    cost_usd: str

    tokens: int

    consecutive_failures: int

    check_retries: int

    guardrails: list[Guardrail]
    """The guardrails that are on."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Counters:
        """From the gate's answer."""
        return cls(
            iteration=value["iteration"],
            elapsed_ms=value["elapsed_ms"],
            tool_calls=value["tool_calls"],
            cost_usd=value["cost_usd"],
            tokens=value["tokens"],
            consecutive_failures=value["consecutive_failures"],
            check_retries=value["check_retries"],
            guardrails=[Guardrail.from_json(item) for item in value["guardrails"]],
        )


@dataclass
class CheckAssessment:
    """How one check of the contract was judged."""

    id: str

    required: bool

    passed: bool

    flaky: bool

    code: Optional[FailureCode]
    """Set when it did not pass."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> CheckAssessment:
        """From the gate's answer."""
        return cls(
            id=value["id"],
            required=value["required"],
            passed=value["passed"],
            flaky=value["flaky"],
            code=value["code"],
        )


@dataclass
class ShadowVerdict:
    """What an enforcing gate would have said."""

    decision: Decision

    stop_reason: Optional[StopReason]

    detail: Optional[str]

    signal: Signal

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ShadowVerdict:
        """From the gate's answer."""
        return cls(
            decision=value["decision"],
            stop_reason=value["stop_reason"],
            detail=value["detail"],
            signal=value["signal"],
        )


@dataclass
class Verdict:
    """The gate's answer for one iteration."""

    decision: Decision

    stop_reason: Optional[StopReason]

    detail: Optional[str]
    """Which guardrail, by the name of its contract field, where the reason alone does not say."""

    signal: Optional[Signal]
    """None when the decision is `pass-through`."""

    intercepted: bool
    """True when the agent said final and was not let go."""

    overridden: bool

    failures: list[Failure]
    """Everything that stands in the way. Empty when completed."""

    needs: list[Need]
    """The smallest set of facts that would have completed the loop."""

    feedback: str
    """The text for the agent's next turn. Empty unless the decision is `continue`."""

    promise: PromiseReport

    fingerprint: Fingerprint

    counters: Counters

    snapshot: Optional[str]
    """Store this, and give it back with the next iteration. None in standard mode on a new loop."""

    mode: Mode

    profile: Optional[str]

    shadow: Optional[ShadowVerdict]

    checks: list[CheckAssessment]

    unused_checks: list[str]
    """Results for checks that the contract doesn't name. They change nothing."""

    waived: list[str]
    """Checks that count as passed because an operator waived them, now or before."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Verdict:
        """From the gate's answer."""
        return cls(
            decision=value["decision"],
            stop_reason=value["stop_reason"],
            detail=value["detail"],
            signal=value["signal"],
            intercepted=value["intercepted"],
            overridden=value["overridden"],
            failures=[Failure.from_json(item) for item in value["failures"]],
            needs=[Need.from_json(item) for item in value["needs"]],
            feedback=value["feedback"],
            promise=PromiseReport.from_json(value["promise"]),
            fingerprint=Fingerprint.from_json(value["fingerprint"]),
            counters=Counters.from_json(value["counters"]),
            snapshot=value["snapshot"],
            mode=value["mode"],
            profile=value["profile"],
            shadow=None if value["shadow"] is None else ShadowVerdict.from_json(value["shadow"]),
            checks=[CheckAssessment.from_json(item) for item in value["checks"]],
            unused_checks=value["unused_checks"],
            waived=value["waived"],
        )


@dataclass
class Brief:
    """What to tell the agent before an iteration."""

    iteration: int
    """The index of the iteration to come."""

    token: Optional[str]
    """The promise text that this iteration has to end with, if the contract has a token."""

    text: str

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Brief:
        """From the gate's answer."""
        return cls(
            iteration=value["iteration"],
            token=value["token"],
            text=value["text"],
        )


@dataclass
class Resumption:
    """An operator's decision to go on with a loop that stopped, or with another contract."""

    operator: str

    reason: str

    accept_contract: bool = False
    """Pin the contract given now instead of the one that the loop began with."""

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "operator": self.operator,
            "reason": self.reason,
            "accept_contract": self.accept_contract,
        }


@dataclass
class IssueFile:
    """One issue file, as text."""

    path: str

    text: str

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "path": self.path,
            "text": self.text,
        }


@dataclass
class Issue:
    """One issue. `status` is `proposed`, `in_progress`, `blocked` or `done`; another word is an error signal,
    not an error, because the loop has to learn of it.
    """

    id: str

    status: str

    needs_human: bool = False
    """A blocked issue that only a person can unblock."""

    depends_on: list[str] = field(default_factory=list)
    """Ids of issues that must be done first."""

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "id": self.id,
            "status": self.status,
            "needs_human": self.needs_human,
            "depends_on": self.depends_on,
        }


@dataclass
class IssueStates:
    """What to decide a signal from. Both lists together are the state."""

    issues: list[Issue] = field(default_factory=list)

    files: list[IssueFile] = field(default_factory=list)
    """Files whose front matter holds the state."""

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "issues": [item.to_json() for item in self.issues],
            "files": [item.to_json() for item in self.files],
        }


@dataclass
class SignalReport:
    """Exactly one signal, and why."""

    signal: Signal

    reason: str

    selectable: list[str]
    """Ids of the issues that can be worked on now."""

    proposed: int

    in_progress: int

    blocked: int

    done: int

    problems: list[Problem]

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SignalReport:
        """From the gate's answer."""
        return cls(
            signal=value["signal"],
            reason=value["reason"],
            selectable=value["selectable"],
            proposed=value["proposed"],
            in_progress=value["in_progress"],
            blocked=value["blocked"],
            done=value["done"],
            problems=[Problem.from_json(item) for item in value["problems"]],
        )


@dataclass
class SnapshotView:
    """What a snapshot says, for people and tools. The text itself is opaque."""

    version: int

    contract: str
    """Digest of the pinned contract."""

    iteration: int
    """The last iteration evaluated."""

    stopped: Optional[StopReason]

    detail: Optional[str]

    elapsed_ms: int

    tool_calls: int

    cost_usd: str

    tokens: int

    consecutive_failures: int

    resumed: int

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SnapshotView:
        """From the gate's answer."""
        return cls(
            version=value["version"],
            contract=value["contract"],
            iteration=value["iteration"],
            stopped=value["stopped"],
            detail=value["detail"],
            elapsed_ms=value["elapsed_ms"],
            tool_calls=value["tool_calls"],
            cost_usd=value["cost_usd"],
            tokens=value["tokens"],
            consecutive_failures=value["consecutive_failures"],
            resumed=value["resumed"],
        )


@dataclass
class PrdItem:
    """One line of the checklist."""

    id: str

    title: str

    passes: bool

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> PrdItem:
        """From the gate's answer."""
        return cls(
            id=value["id"],
            title=value["title"],
            passes=value["passes"],
        )


PrdShape = Literal[
    "user_stories",  # The public Ralph format: `userStories[].passes`. `stories` is read like it.
    "items",  # A plain list: `items[]`. `tasks`, and a list without an object around it, are read like it.
]
"""Which of the two shapes of `prd.json` it is."""


@dataclass
class Prd:
    """The checklist."""

    shape: PrdShape

    items: list[PrdItem]

    passed: int

    total: int

    warnings: list[Problem]
    """What is read, but hardly meant like that: keys that are there twice, `passes` that is no boolean."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Prd:
        """From the gate's answer."""
        return cls(
            shape=value["shape"],
            items=[PrdItem.from_json(item) for item in value["items"]],
            passed=value["passed"],
            total=value["total"],
            warnings=[Problem.from_json(item) for item in value["warnings"]],
        )


@dataclass
class PrdUpdate:
    """A change to one line of the checklist."""

    id: str

    passes: bool

    evidence: Optional[str] = None
    """What proves it; written beside `passes` as `evidence`."""

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "id": self.id,
            "passes": self.passes,
            "evidence": self.evidence,
        }


@dataclass
class ProgressEntry:
    """One entry of `progress.txt`."""

    iteration: int

    title: str
    """One line."""

    body: str = ""
    """Any text; may have lines."""

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "iteration": self.iteration,
            "title": self.title,
            "body": self.body,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProgressEntry:
        """From the gate's answer."""
        return cls(
            iteration=value["iteration"],
            title=value["title"],
            body=value["body"],
        )


@dataclass
class ProgressLog:
    """The whole of `progress.txt`."""

    entries: list[ProgressEntry]

    preamble: str
    """Text before the first entry, kept as it is."""

    torn: Optional[str]
    """A last entry that was cut off while it was written. Its text is kept here."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProgressLog:
        """From the gate's answer."""
        return cls(
            entries=[ProgressEntry.from_json(item) for item in value["entries"]],
            preamble=value["preamble"],
            torn=value["torn"],
        )


@dataclass
class LoopFile:
    """The loop state file `.claude/ralph-loop.local.md`."""

    active: bool

    iteration: int

    max_iterations: int
    """0 is what the file says for "unlimited"; the gate never runs unlimited."""

    prompt: str
    """Byte for byte what follows the front matter."""

    session_id: Optional[str] = None
    """The session that owns the loop. None: the first one that stops."""

    completion_promise: Optional[str] = None

    started_at: Optional[str] = None

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "active": self.active,
            "iteration": self.iteration,
            "session_id": self.session_id,
            "max_iterations": self.max_iterations,
            "completion_promise": self.completion_promise,
            "started_at": self.started_at,
            "prompt": self.prompt,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> LoopFile:
        """From the gate's answer."""
        return cls(
            active=value["active"],
            iteration=value["iteration"],
            session_id=value["session_id"],
            max_iterations=value["max_iterations"],
            completion_promise=value["completion_promise"],
            started_at=value["started_at"],
            prompt=value["prompt"],
        )


@dataclass
class LoopFileChange:
    """What to change in a loop state file. Absent fields stay as they are."""

    active: Optional[bool] = None

    iteration: Optional[int] = None

    session_id: Optional[str] = None

    def to_json(self) -> dict[str, Any]:
        """The one JSON form."""
        return {
            "active": self.active,
            "iteration": self.iteration,
            "session_id": self.session_id,
        }


class _CompletionTokenRequired(TypedDict):
    text: str
    """The promise text."""


class CompletionToken(_CompletionTokenRequired, total=False):
    nonce: Optional[bool]
    """Whether the text changes each iteration, so that an echo or an old turn can't complete."""

    seed: Optional[str]
    """Makes the nonces of two loops with the same contract differ."""


class _CompletionCheckRequired(TypedDict):
    id: str
    """Its name in the evidence, without white space."""


class CompletionCheck(_CompletionCheckRequired, total=False):
    required: Optional[bool]
    """Whether it must pass. Others count for the ratio only."""

    on_flaky: Optional[Literal["pass", "fail"]]
    """What it counts as when it is flaky."""

    retries: Optional[int]
    """How often it may be rerun inside one iteration, at most max_check_retries."""

    retry_on: Optional[list[Literal["fail", "error", "timeout"]]]
    """The outcomes after which it may be rerun. A plain fail is rerun only where it is listed."""


class Contract(TypedDict, total=False):
    """A contract: when a loop is complete, and what ends it otherwise"""

    mode: Optional[Literal["standard", "ralph", "auto"]]
    """Who decides when the loop may stop: the harness itself (standard), the gate (ralph), or the gate if there is a required check (auto)."""

    profile: Optional[str]
    """A named set of defaults: ralph, strict, shadow, or one of the routing policy."""

    effective: Optional[bool]
    """Marks the canonical form that the gate writes, in which the profile is already applied."""

    enforcement: Optional[Literal["enforce", "shadow"]]
    """Whether verdicts bind (enforce), or are only recorded (shadow)."""

    completion_token: Optional[Union[str, CompletionToken]]
    """The promise text that must be present when the agent wants to stop."""

    promise_rules: Optional[Literal["strict", "lenient"]]
    """Which promises count: only the last thing in the output, alone on its line, outside code, quotes, raw HTML and comments (strict), or the first tag anywhere (lenient)."""

    completion_checks: Optional[list[Union[str, CompletionCheck]]]
    """The checks whose results decide: ids, or objects."""

    on_flaky: Optional[Literal["pass", "fail"]]
    """What a flaky check counts as, where the check itself does not say."""

    optional_pass_ratio: Optional[Union[float, str]]
    """The share of the checks that are not required which must pass."""

    allow_override: Optional[bool]
    """Whether an operator may complete the loop by hand."""

    loop_max_iters: Optional[int]
    """The most iterations. There is no way to say unlimited."""

    no_progress_limit: Optional[int]
    """Equal iterations in a row before the loop stops; 0 is off."""

    plateau_limit: Optional[int]
    """Iterations without fewer failing required checks, or fewer failing tests inside one that reports counts, before the loop stops; 0 is off."""

    blocked_limit: Optional[int]
    """Iterations in a row in which the agent must say LOOP_BLOCKED before the loop stops for it."""

    per_iter_timeout_ms: Optional[int]
    """The host ends an iteration that runs longer."""

    max_tokens: Optional[int]
    """The most tokens of the model over the whole loop; 0 is off."""

    max_tool_calls: Optional[int]
    """The most tool calls over the whole loop."""

    max_duration_ms: Optional[int]
    """The longest time for the whole loop."""

    max_consecutive_failures: Optional[int]
    """Iterations in a row that errored or timed out before the loop stops."""

    max_check_retries: Optional[int]
    """The most reruns of one check inside one iteration."""

    cost_budget_usd: Optional[Union[float, str]]
    """The most that the whole loop may cost, as an exact decimal."""

    feedback_max_bytes: Optional[int]
    """The most bytes that the feedback for the agent may have."""
