"""Decides when an autonomous agent may stop: only when a contract it can't edit is met by evidence it did not write.

A harness opens a session with its contract, hands over what the agent said and what the checks found, and does what the
verdict says:

>>> from ralph_gate import Iteration, open_session
>>> session = open_session("mode: standard")
>>> session.evaluate_final(Iteration(1, "final", output="Done.")).decision
'pass_through'
"""

from . import functions, types
from ._json import IterationLike, Text
from .errors import EngineError, GateError
from .functions import *
from .memory import FileMemory, FileMemoryError
from .session import Session, open_session
from .types import *

__all__ = [
    "EngineError",
    "FileMemory",
    "FileMemoryError",
    "GateError",
    "IterationLike",
    "Session",
    "Text",
    "open_session",
]
__all__ += functions.__all__
__all__ += types.__all__
