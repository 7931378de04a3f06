"""JSON on its way to the gate and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Union

from .errors import GateError
from .types import Iteration

Text = Union[str, Mapping[str, object]]
"""A contract, a request or a policy: JSON, YAML or TOML as text, or the same as a mapping."""

IterationLike = Union[Iteration, Mapping[str, object]]
"""An iteration: the dataclass, or its JSON form."""

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encode_iteration(iteration: IterationLike) -> str:
    """The JSON form of an iteration."""
    return encode(iteration.to_json() if isinstance(iteration, Iteration) else iteration)


def decode(answer: str) -> Any:
    """What the gate answered. Raises its error."""
    value = json.loads(answer)
    if isinstance(value, dict) and value.keys() == {"error"}:
        raise GateError.from_json(value["error"])
    return value
