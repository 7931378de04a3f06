"""Every function of the gate, with types. Each is pure: the same input gives the same answer, everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from ._engine import call
from ._json import IterationLike, Text, decode, encode
from .types import (
    Brief,
    ContractReport,
    Fingerprint,
    IssueStates,
    Iteration,
    LoopFile,
    LoopFileChange,
    Prd,
    PrdUpdate,
    ProgressEntry,
    ProgressLog,
    PromiseReport,
    PromiseRules,
    Resumption,
    Routing,
    SignalReport,
    SnapshotView,
    TextFormat,
    Verdict,
)

__all__ = [
    "call",
    "check_contract",
    "decide_signal",
    "evaluate_final",
    "parse_promises",
    "read_loop_file",
    "read_prd",
    "read_progress",
    "read_snapshot",
    "resume",
    "route",
    "take_fingerprint",
    "update_loop_file",
    "update_prd",
    "write_brief",
    "write_loop_file",
    "write_progress",
]


def _ask(function: str, **values: Any) -> Any:
    return decode(call(function, encode(values)))


def check_contract(text: Text, format: Optional[TextFormat] = None) -> ContractReport:
    """Reads a contract and reports every problem and every weakness at once.

    Without a format, it is recognised from the text.
    """
    text = text if isinstance(text, str) else encode(text)
    return ContractReport.from_json(_ask("check_contract", text=text, format=format))


def route(request: Text, policy: Optional[Text] = None) -> Routing:
    """Decides where a request goes. Without a policy it is the default one."""
    return Routing.from_json(_ask("route", request=request, policy=policy))


def evaluate_final(contract: Text, snapshot: Optional[str], iteration: IterationLike) -> Verdict:
    """Evaluates one iteration, for callers that live no longer than that. Others open a session."""
    iteration = iteration.to_json() if isinstance(iteration, Iteration) else iteration
    return Verdict.from_json(_ask("evaluate_final", contract=contract, snapshot=snapshot, iteration=iteration))


def write_brief(contract: Text, snapshot: Optional[str] = None) -> Brief:
    """What to tell the agent before the next iteration."""
    return Brief.from_json(_ask("write_brief", contract=contract, snapshot=snapshot))


def resume(contract: Text, snapshot: str, resumption: Resumption) -> str:
    """Goes on with a stopped loop, or with another contract. Gives the new snapshot."""
    answer = _ask("resume", contract=contract, snapshot=snapshot, resumption=resumption.to_json())
    return str(answer["snapshot"])


def parse_promises(output: str, rules: PromiseRules = "strict") -> PromiseReport:
    """Finds the promises in an agent's output."""
    return PromiseReport.from_json(_ask("parse_promises", output=output, rules=rules))


def take_fingerprint(iteration: IterationLike) -> Fingerprint:
    """Fingerprints an iteration's work, without a loop."""
    iteration = iteration.to_json() if isinstance(iteration, Iteration) else iteration
    return Fingerprint.from_json(_ask("take_fingerprint", iteration=iteration))


def decide_signal(states: IssueStates) -> SignalReport:
    """Decides the loop signal from issue states."""
    return SignalReport.from_json(_ask("decide_signal", states=states.to_json()))


def read_snapshot(text: str) -> SnapshotView:
    """Reads a snapshot."""
    return SnapshotView.from_json(_ask("read_snapshot", text=text))


def read_prd(text: str) -> Prd:
    """Reads `prd.json`."""
    return Prd.from_json(_ask("read_prd", text=text))


def update_prd(text: str, updates: Sequence[PrdUpdate]) -> str:
    """Changes lines of the checklist; everything else stays byte for byte."""
    return str(_ask("update_prd", text=text, updates=[update.to_json() for update in updates])["text"])


def read_progress(text: str) -> ProgressLog:
    """Reads `progress.txt`. Never fails: what is not an entry is kept."""
    return ProgressLog.from_json(_ask("read_progress", text=text))


def write_progress(entry: ProgressEntry) -> str:
    """What to append to `progress.txt` for an entry."""
    return str(_ask("write_progress", entry=entry.to_json())["text"])


def read_loop_file(text: str) -> LoopFile:
    """Reads a loop state file."""
    return LoopFile.from_json(_ask("read_loop_file", text=text))


def update_loop_file(text: str, change: LoopFileChange) -> str:
    """Changes the front matter; the prompt stays byte for byte."""
    return str(_ask("update_loop_file", text=text, change=change.to_json())["text"])


def write_loop_file(file: LoopFile) -> str:
    """A new loop state file."""
    return str(_ask("write_loop_file", file=file.to_json())["text"])
