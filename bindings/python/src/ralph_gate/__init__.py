"""Decides when an autonomous agent may stop: only when a contract it can't edit is met by evidence it did not write.

>>> from ralph_gate import Iteration, open_session
>>> session = open_session({"mode": "ralph", "completion_token": "COMPLETE"})
>>> session.evaluate_final(Iteration(1, "final", output="COMPLETE")).decision
'continue'
>>> session.evaluate_final(Iteration(2, "final", output="<promise>COMPLETE</promise>")).decision
'stop'
"""

from . import functions, types
from ._json import IterationLike, Text
from .errors import EngineError, GateError
from .functions import *
from .session import Session, open_session
from .types import *

__all__ = ["EngineError", "GateError", "IterationLike", "Session", "Text", "open_session"]
__all__ += functions.__all__
__all__ += types.__all__
