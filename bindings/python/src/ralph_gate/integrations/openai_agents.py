"""openai-agents: an output guardrail that asks the gate, and a run that goes on with the feedback.

    result = await run(agent, "Fix the failing test.", open_session(contract), run_checks)

A guardrail alone can only halt. So `run` catches that and runs the agent again, with all that was said and with the
feedback.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Union

from agents import (
    Agent,
    GuardrailFunctionOutput,
    ItemHelpers,
    OutputGuardrail,
    OutputGuardrailTripwireTriggered,
    RunContextWrapper,
    Runner,
    RunResult,
    TResponseInputItem,
)

from ..types import Verdict
from . import Gather, Judge, LoopStoppedError, judge

__all__ = ["LoopStoppedError", "guardrail", "run"]


def guardrail(by: Judge, gather: Gather) -> OutputGuardrail[Any]:
    """An output guardrail that halts a run whose agent may not stop. Its `output_info` is the verdict."""

    async def ask(_context: RunContextWrapper[Any], _agent: Agent[Any], output: Any) -> GuardrailFunctionOutput:
        verdict = await judge(by, gather, str(output))
        return GuardrailFunctionOutput(output_info=verdict, tripwire_triggered=verdict.decision == "continue")

    return OutputGuardrail(guardrail_function=ask, name="ralph-gate")


async def run(
    agent: Agent[Any], input: Union[str, list[TResponseInputItem]], by: Judge, gather: Gather, **options: Any
) -> RunResult:
    """Runs an agent until the gate lets it stop. `options` are those of `Runner.run`."""
    told = input
    guarded = replace(agent, output_guardrails=[*agent.output_guardrails, guardrail(by, gather)])
    while True:
        try:
            return await Runner.run(guarded, told, **options)
        except OutputGuardrailTripwireTriggered as halted:
            verdict = halted.guardrail_result.output.output_info
            if not isinstance(verdict, Verdict) or halted.run_data is None:
                raise
            said = [item.to_input_item() for item in halted.run_data.new_items]
            feedback: TResponseInputItem = {"role": "user", "content": verdict.feedback}
            told = [*ItemHelpers.input_to_new_input_list(halted.run_data.input), *said, feedback]
