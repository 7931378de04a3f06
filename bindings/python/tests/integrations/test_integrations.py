"""The integrations, in the real frameworks with scripted models. Nothing may reach for the network."""

import asyncio
import os
import runpy
import socket
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

from _work import CONTRACT, TURNS, Work  # noqa: E402

from ralph_gate import CheckResult, Verdict, open_session  # noqa: E402
from ralph_gate.integrations import LoopStoppedError  # noqa: E402

SAID = """\
the model is told: Make the test pass.
the model is told: Not done: iteration 1 of 5 was refused.
the model is told: Not done: iteration 2 of 5 was refused.
Now it is fixed.
<promise>COMPLETE</promise>
"""


def no_network(*_: object) -> None:
    raise AssertionError("something reached for the network")


def nothing_passes(output: str) -> "list[CheckResult]":
    return [CheckResult("tests_green", "fail", reason=f"{len(output)}")]


async def later(output: str) -> "list[CheckResult]":
    await asyncio.sleep(0)
    return [CheckResult("tests_green", "pass")]


class Integrations(unittest.TestCase):
    def setUp(self) -> None:
        patch = mock.patch.object(socket.socket, "connect", no_network)
        patch.start()
        self.addCleanup(patch.stop)

    def stops(self, run: Any) -> Verdict:
        """The loop ends after two iterations, and that is no success."""
        with self.assertRaises(LoopStoppedError) as caught:
            run(open_session({**CONTRACT, "loop_max_iters": 2}))
        verdict: Verdict = caught.exception.verdict
        self.assertEqual((verdict.stop_reason, verdict.counters.iteration), ("max_iters", 2))
        return verdict

    def test_the_examples_refuse_an_agent_twice_and_release_it_once(self) -> None:
        for name in ("pydantic_ai", "langgraph", "openai_agents"):
            with self.subTest(name):
                example = [sys.executable, str(EXAMPLES / f"{name}_agent.py")]
                offline = {**os.environ, "OPENAI_API_KEY": "none", "LANGSMITH_TRACING": "false"}
                run = subprocess.run(example, capture_output=True, text=True, env=offline)
                self.assertEqual((run.returncode, run.stdout), (0, SAID), run.stderr)

    def test_pydantic_ai(self) -> None:
        from pydantic_ai import Agent, ModelResponse, TextPart
        from pydantic_ai.models.function import FunctionModel

        from ralph_gate.integrations.pydantic_ai import RETRIES, validator

        def run(by: Any, gather: Any = nothing_passes, text: str = TURNS[1]) -> Any:
            model = FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart(text)]))
            agent = Agent(model, retries={"output": RETRIES})
            agent.output_validator(validator(by, gather))
            return agent.run_sync("Go.").output

        self.stops(run)
        self.assertEqual(run(open_session(CONTRACT), later), TURNS[1])
        self.assertEqual(run(open_session("mode: standard"), nothing_passes, "Done."), "Done.")

    def test_langgraph(self) -> None:
        from langchain.agents import create_agent
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        from ralph_gate.integrations.langgraph import GateMiddleware

        def agent(by: Any, gather: Any) -> Any:
            model = GenericFakeChatModel(messages=iter([AIMessage(TURNS[1])] * 5))
            return create_agent(model, middleware=[GateMiddleware(by, gather)])

        task = {"messages": [("user", "Go.")]}
        self.stops(lambda by: agent(by, nothing_passes).invoke(task))
        result = asyncio.run(agent(open_session(CONTRACT), later).ainvoke(task))
        self.assertEqual([message.text for message in result["messages"]], ["Go.", TURNS[1]])
        with self.assertRaisesRegex(TypeError, "asynchronously"):
            agent(open_session(CONTRACT), later).invoke(task)

    def test_openai_agents(self) -> None:
        from agents import Agent, set_tracing_disabled

        from ralph_gate.integrations.openai_agents import run

        set_tracing_disabled(True)
        scripted = runpy.run_path(str(EXAMPLES / "openai_agents_agent.py"))["Scripted"]

        def go(by: Any, gather: Any = nothing_passes) -> Any:
            return asyncio.run(run(Agent(name="worker", model=scripted()), "Go.", by, gather)).final_output

        self.stops(go)
        self.assertEqual(go(open_session(CONTRACT), Work().run_checks), TURNS[2])
