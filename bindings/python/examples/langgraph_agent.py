"""LangChain's agent on LangGraph, with a scripted model in place of a real one."""

from _work import CONTRACT, TURNS, Work
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from ralph_gate import open_session
from ralph_gate.integrations.langgraph import GateMiddleware

model = GenericFakeChatModel(messages=iter([AIMessage(turn) for turn in TURNS]))
agent = create_agent(model, middleware=[GateMiddleware(open_session(CONTRACT), Work().run_checks)])
result = agent.invoke({"messages": [HumanMessage("Make the test pass.")]})
for message in result["messages"]:
    if isinstance(message, HumanMessage):
        print("the model is told:", message.text.split("\n")[0])
print(result["messages"][-1].text)
