"""pydantic-ai: an output validator that asks the gate.

    agent = Agent(model, retries={"output": RETRIES})
    agent.output_validator(validator(open_session(contract), run_checks))

What the gate refuses goes back to the model as a retry, with the feedback. Whoever leaves `retries` at its default ends
the loop before the gate does; so does the framework's limit of 50 requests a run, which
`usage_limits=UsageLimits(request_limit=None)` lifts.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Callable, TypeVar

from pydantic_ai import ModelRetry

from . import Gather, Judge, LoopStoppedError, judge

__all__ = ["RETRIES", "LoopStoppedError", "validator"]

RETRIES = 10_000
"""More than any contract allows: the gate ends the loop, not the framework."""

Output = TypeVar("Output")


def validator(by: Judge, gather: Gather, text: Callable[[Output], str] = str) -> Callable[[Output], Awaitable[Output]]:
    """A function for `agent.output_validator`. `text` gives what the agent said where the output is not a text."""

    async def validate(output: Output) -> Output:
        verdict = await judge(by, gather, text(output))
        if verdict.decision == "continue":
            raise ModelRetry(verdict.feedback)
        return output

    return validate
