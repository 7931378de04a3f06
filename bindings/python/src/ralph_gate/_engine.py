"""The component in wasmtime: compiled once per process, at the first call; an instance for each thread that asks.

Compiled code is never read from a file: whoever could write that file would decide what the gate says.
"""

from __future__ import annotations

import os
import threading
from importlib.resources import files
from typing import Any, Callable, Optional

from wasmtime import Config, Engine, Store, WasmtimeError
from wasmtime.component import Component, Func, Instance, Linker

from .errors import EngineError

# The same limits as those of the host in Rust.
_MAX_INPUT = 32 << 20
_MAX_MEMORY = 1 << 30
_MAX_STACK = 512 << 10

# An instance never gives memory back, so one that had to take in more than this is not kept.
_KEPT_INPUT = 1 << 20

_JSON = "ralph:gate/json@0.1.0"


class Program:
    """A component of this package, compiled."""

    _engine: Optional[Engine] = None
    _lock = threading.Lock()

    def __init__(self, file: str) -> None:
        self._file = file
        self._component: Optional[Component] = None

    def instance(self, link: Optional[Callable[[Linker], None]] = None) -> Running:
        """A new instance. Whatever `link` defines is what it may ask of its host."""
        engine, component = self._compiled()
        linker = Linker(engine)
        if link is not None:
            link(linker)
        store = Store(engine)
        store.set_limits(memory_size=_MAX_MEMORY)
        return Running(store, linker.instantiate(store, component))

    def _compiled(self) -> tuple[Engine, Component]:
        with Program._lock:
            if Program._engine is None:
                config = Config()
                config.max_wasm_stack = _MAX_STACK
                Program._engine = Engine(config)
            if self._component is None:
                self._component = self._compile(Program._engine)
            return Program._engine, self._component

    def _compile(self, engine: Engine) -> Component:
        try:
            return Component(engine, files("ralph_gate").joinpath(self._file).read_bytes())
        except FileNotFoundError:
            raise EngineError(
                f"{self._file} is not in the package ralph-gate: install it from a wheel, not from a checkout"
            ) from None
        except WasmtimeError as error:
            raise EngineError(f"{self._file} can't be compiled: {error}") from error


class Running:
    """An instance. For one thread at a time."""

    def __init__(self, store: Store, instance: Instance) -> None:
        self.store = store
        self._instance = instance

    def function(self, interface: str, name: str) -> Func:
        """A function that it exports."""
        outer = self._instance.get_export_index(self.store, interface)
        inner = None if outer is None else self._instance.get_export_index(self.store, name, outer)
        found = None if inner is None else self._instance.get_func(self.store, inner)
        if found is None:
            raise EngineError(f"the component has no function {name} in {interface}")
        return found

    def call(self, function: Func, *values: Any) -> Any:
        """Calls one of its functions."""
        try:
            return function(self.store, *values)
        except UnicodeEncodeError:
            return self.call(function, *(_whole(value) if isinstance(value, str) else value for value in values))
        except WasmtimeError as error:
            raise EngineError(f"the component stopped without an answer: {error}") from error


GATE = Program("gate.wasm")


class _Caller:
    """An instance of the gate with its JSON face."""

    def __init__(self) -> None:
        self._running = GATE.instance()
        self._call = self._running.function(_JSON, "call")

    def __call__(self, function: str, text: str) -> str:
        answer: str = self._running.call(self._call, function, text)
        return answer


# Instances that nobody uses at the moment. Taking from a list and adding to it need no lock.
_idle: list[_Caller] = []


def call(function: str, text: str) -> str:
    """Calls a function of the gate's JSON face: JSON in, JSON out, errors as `{"error": …}`.

    >>> call("read_progress", '{"text": ""}')
    '{"entries":[],"preamble":"","torn":null}'
    """
    check_size(text)
    try:
        caller = _idle.pop()
    except IndexError:
        caller = _Caller()
    # After an error it is not used again.
    answer = caller(function, text)
    if len(text) <= _KEPT_INPUT:
        _idle.append(caller)
    return answer


def check_size(text: str) -> None:
    """Refuses what is too large to be handed over."""
    if len(text) > _MAX_INPUT:
        raise EngineError(f"the input has {len(text)} characters and the limit is {_MAX_INPUT}")


def _whole(text: str) -> str:
    """The text with U+FFFD in place of halves of surrogate pairs, which UTF-8 can't carry."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _forget() -> None:
    """A process that was forked off can't know what other threads were doing."""
    Program._lock = threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
