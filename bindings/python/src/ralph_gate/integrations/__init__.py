"""The gate in frameworks for agents. Each module needs its framework, which this package does not install.

In all of them an agent's attempt to end its run goes to the gate. If it may not stop, the framework sends it back to
work with the gate's feedback. If the loop ends without being complete, `LoopStoppedError` is raised, so that nothing
else looks like success.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Iterable
from typing import Callable, Protocol, Union

from ..types import Brief, CheckResult, Iteration, Verdict

__all__ = ["Gather", "Judge", "LoopStoppedError"]

Gather = Callable[[str], Union[Iterable[CheckResult], Awaitable[Iterable[CheckResult]]]]
"""Gathers the evidence, given what the agent said: runs the checks that the contract names. May be asynchronous."""


class Judge(Protocol):
    """What decides: a `Session`, or a `FileMemory`, which also remembers."""

    def brief(self) -> Brief: ...
    def evaluate_final(self, iteration: Iteration) -> Verdict: ...


class LoopStoppedError(Exception):
    """The loop has ended, and is not complete."""

    def __init__(self, verdict: Verdict) -> None:
        detail = f" ({verdict.detail})" if verdict.detail else ""
        super().__init__(f"the loop stopped: {verdict.stop_reason}{detail}")
        self.verdict = verdict
        """What the gate said."""


async def judge(by: Judge, gather: Gather, output: str) -> Verdict:
    """Asks whether the agent may stop after this output."""
    checks = gather(output)
    return _evaluate(by, output, await checks if inspect.isawaitable(checks) else checks)


def judge_now(by: Judge, gather: Gather, output: str) -> Verdict:
    """The same without an event loop."""
    checks = gather(output)
    if inspect.isawaitable(checks):
        if inspect.iscoroutine(checks):
            checks.close()
        raise TypeError("the evidence is gathered asynchronously: run the agent asynchronously, too")
    return _evaluate(by, output, checks)


def _evaluate(by: Judge, output: str, checks: Iterable[CheckResult]) -> Verdict:
    index = by.brief().iteration
    verdict = by.evaluate_final(Iteration(index, "final", output=output, checks=list(checks)))
    if verdict.decision == "stop" and verdict.stop_reason != "completed":
        raise LoopStoppedError(verdict)
    return verdict
