"""What can go wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional, cast

from .types import ErrorCode, Problem

__all__ = ["EngineError", "GateError"]


class GateError(Exception):
    """The gate could not answer: something is wrong with what it was given."""

    def __init__(
        self, code: ErrorCode, message: str, path: Optional[str] = None, problems: Optional[list[Problem]] = None
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        """For programs. The list is closed."""
        self.message = message
        """For people: the thing, the place, the remedy."""
        self.path = path
        """The path of the first problem, where there is one."""
        self.problems = problems if problems is not None else []
        """Every problem, not only the first."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.path, self.problems)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> GateError:
        """From the gate's answer."""
        problems = [Problem.from_json(problem) for problem in value["problems"]]
        return cls(cast(ErrorCode, value["code"]), value["message"], value["path"], problems)


class EngineError(RuntimeError):
    """The gate could not be asked, or stopped in the middle: its input or its memory is over a limit."""
