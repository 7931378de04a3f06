"""LangChain and LangGraph: middleware that asks the gate when an agent is about to end.

    agent = create_agent(model, tools, middleware=[GateMiddleware(open_session(contract), run_checks)])

What the gate refuses goes back to the model as a message, with the feedback.
"""

from __future__ import annotations

from typing import Any, Optional

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime

from ..types import Verdict
from . import Gather, Judge, LoopStoppedError, judge, judge_now

__all__ = ["GateMiddleware", "LoopStoppedError"]


class GateMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Lets an agent end only when the gate does."""

    def __init__(self, by: Judge, gather: Gather) -> None:
        super().__init__()
        self._by = by
        self._gather = gather

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> Optional[dict[str, Any]]:
        """Asks the gate."""
        return _answer(judge_now(self._by, self._gather, _said(state)))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> Optional[dict[str, Any]]:
        """Asks the gate, in an event loop."""
        return _answer(await judge(self._by, self._gather, _said(state)))


def _said(state: AgentState[Any]) -> str:
    """The text of the agent's last message."""
    last = state["messages"][-1]
    return str(last.text) if isinstance(last, AIMessage) else ""


def _answer(verdict: Verdict) -> Optional[dict[str, Any]]:
    if verdict.decision != "continue":
        return None
    return {"messages": [HumanMessage(verdict.feedback)], "jump_to": "model"}
