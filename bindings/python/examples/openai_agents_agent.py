"""openai-agents, with a scripted model in place of a real one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Union

from _work import CONTRACT, TURNS, Work
from agents import Agent, Model, ModelResponse, TResponseInputItem, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from ralph_gate import open_session
from ralph_gate.integrations.openai_agents import run


class Scripted(Model):
    """Says what it is scripted to say."""

    def __init__(self) -> None:
        self.turns = iter(TURNS)

    async def get_response(
        self, system_instructions: Any, input: Union[str, "list[TResponseInputItem]"], *args: Any, **options: Any
    ) -> ModelResponse:
        last: Any = input if isinstance(input, str) else input[-1]
        print("the model is told:", str(last["content"] if isinstance(last, dict) else last).split("\n")[0])
        text = ResponseOutputText(text=next(self.turns), type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="message", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> "AsyncIterator[Any]":
        raise NotImplementedError


set_tracing_disabled(True)
agent = Agent(name="worker", model=Scripted())
result = asyncio.run(run(agent, "Make the test pass.", open_session(CONTRACT), Work().run_checks))
print(result.final_output)
