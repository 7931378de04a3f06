"""A loop whose contract is read once."""

from __future__ import annotations

import threading
from typing import Optional

from wasmtime.component import ResourceAny

from ._engine import GATE, check_size
from ._json import IterationLike, Text, decode, encode, encode_iteration
from .errors import EngineError
from .functions import write_brief
from .types import Brief, Verdict

__all__ = ["Session", "open_session"]

_GATE = "ralph:gate/gate@0.1.0"


def open_session(contract: Text, snapshot: Optional[str] = None) -> Session:
    """Opens a loop, new or from its snapshot."""
    return Session(contract, snapshot)


class Session:
    """One loop. It may be used by any thread; calls are made one after the other."""

    def __init__(self, contract: Text, snapshot: Optional[str] = None) -> None:
        text = contract if isinstance(contract, str) else encode(contract)
        check_size(text)
        # An instance of its own: other sessions go on while this one is asked, and its memory goes with it.
        self._gate = GATE.instance()
        opened = self._gate.call(self._gate.function(_GATE, "[static]session.open"), text, snapshot)
        if not isinstance(opened, ResourceAny):
            # Asked in JSON the gate says the same, in the form that errors have.
            write_brief(text, snapshot)
            raise EngineError("the session can't be opened")
        self._session = opened
        self._evaluate = self._gate.function(_GATE, "[method]session.evaluate-final-json")
        self._brief = self._gate.function(_GATE, "[method]session.brief")
        self._snapshot = self._gate.function(_GATE, "[method]session.snapshot")
        self._lock = threading.Lock()

    def evaluate_final(self, iteration: IterationLike) -> Verdict:
        """Evaluates the next iteration and moves on. After a `GateError` the session is as it was before."""
        return Verdict.from_json(decode(self.evaluate_final_json(encode_iteration(iteration))))

    def evaluate_final_json(self, iteration: str) -> str:
        """The same, as JSON: the verdict or `{"error": …}`, byte for byte as the gate says it."""
        check_size(iteration)
        with self._lock:
            answer: str = self._gate.call(self._evaluate, self._session, iteration)
        return answer

    def brief(self) -> Brief:
        """What to tell the agent before the next iteration."""
        with self._lock:
            brief = self._gate.call(self._brief, self._session)
        return Brief(brief.iteration, brief.token, brief.text)

    @property
    def snapshot(self) -> Optional[str]:
        """The state as of the last evaluated iteration: all that has to be stored. None before the first."""
        with self._lock:
            snapshot: Optional[str] = self._gate.call(self._snapshot, self._session)
        return snapshot
