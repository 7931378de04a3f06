"""pydantic-ai, with a scripted model in place of a real one."""

from _work import CONTRACT, TURNS, Work
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ralph_gate import open_session
from ralph_gate.integrations.pydantic_ai import RETRIES, validator

turns = iter(TURNS)


def model(messages: "list[ModelMessage]", info: AgentInfo) -> ModelResponse:
    print("the model is told:", str(messages[-1].parts[-1].content).split("\n")[0])  # type: ignore[union-attr]
    return ModelResponse(parts=[TextPart(next(turns))])


agent = Agent(FunctionModel(model), retries={"output": RETRIES})
agent.output_validator(validator(open_session(CONTRACT), Work().run_checks))
print(agent.run_sync("Make the test pass.").output)
