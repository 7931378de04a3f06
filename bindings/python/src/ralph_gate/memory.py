"""What survives the process: a loop's session on the disk, saved before anybody hears of a verdict.

The files and their guarantees are those of the `ralph-gate` command, because the same code writes them: it is a second
component, and all that Python does is to open, read, write and lock files for it. So either can go on with a session of
the other.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from wasmtime.component import Linker, Record, ResourceAny, Variant

from ._engine import Program, Running, call
from ._json import IterationLike, Text, decode, encode, encode_iteration
from .errors import EngineError
from .session import Session
from .types import Brief, Prd, PrdUpdate, ProgressLog, Resumption, Routing, Verdict

if TYPE_CHECKING:
    from ._disk import DiskError, SessionFolder, Stamp

__all__ = ["FileMemory", "FileMemoryError"]

_MEMORY = "ralph:gate/memory@0.1.0"
_DISK = "ralph:gate/disk@0.1.0"

_PROGRAM = Program("memory.wasm")


class FileMemoryError(Exception):
    """The session can't be read or written."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(f"{message}; {help}" if help else message)
        self.code = code
        """For programs, for example `memory_busy`."""
        self.message = message
        """For people."""
        self.help = help
        """What to do about it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.help)


class FileMemory:
    """One loop that is remembered on the disk. It is the only one that writes there until it is closed.

    Opens the session if there is one, else begins it with the contract. The contract may be left out for a session that
    is there already; another one than it began with is refused. With `record="digest_only"` the event log holds digests
    and lengths in place of texts; its verdicts can't be replayed.
    """

    def __init__(
        self,
        session_key: Optional[str] = None,
        contract: Optional[Text] = None,
        *,
        draft_id: Optional[str] = None,
        root: Union[str, os.PathLike[str]] = ".ralph",
        policy: Optional[Text] = None,
        prd: Optional[str] = None,
        record: str = "full",
    ) -> None:
        key = {"session_key": session_key, "draft_id": draft_id}
        self._key = encode({name: value for name, value in key.items() if value is not None})
        self._lock = threading.RLock()
        self._files = _Files(Path(root), self._key)
        try:
            self._files.lock(make=contract is not None)
            self._store = self._open_or_begin(contract, policy, prd, record)
            self._session = self._ask_session(contract)
        except BaseException:
            self._files.close()
            raise

    def _open_or_begin(
        self, contract: Optional[Text], policy: Optional[Text], prd: Optional[str], record: str
    ) -> ResourceAny:
        try:
            return self._files.open_store("[static]store.open", self._key)
        except FileMemoryError as error:
            if error.code != "memory_no_session" or contract is None:
                raise
        answer = call("route", encode({"request": contract, "policy": policy}))
        Routing.from_json(decode(answer))
        beginning = {"at_ms": _now_ms(), "prd": prd, "argv": sys.argv, "record": record}
        return self._files.open_store("[static]store.begin", self._key, _with(beginning, routing=answer))

    def _ask_session(self, contract: Optional[Text]) -> Session:
        """The loop as it was saved last."""
        state = self._state()
        return Session(state["contract"] if contract is None else contract, state["snapshot"])

    def _state(self) -> Any:
        return json.loads(self._method("state"))

    def _method(self, name: str, *values: Any) -> str:
        self._files.check_open()
        answer: str = self._files.ask(f"[method]store.{name}", self._store, *values)
        return answer

    def evaluate_final(
        self, iteration: IterationLike, *, prd: Sequence[PrdUpdate] = (), events: Sequence[tuple[str, Any]] = ()
    ) -> Verdict:
        """Evaluates the next iteration, saves it so that it survives a crash, and only then says what the verdict is.

        `prd` is what changes in the checklist, `events` what else happened before the verdict.
        """
        text = encode_iteration(iteration)
        with self._lock:
            self._files.check_open()
            answer = self._session.evaluate_final_json(text)
            verdict = Verdict.from_json(decode(answer))
            change = {
                "at_ms": _now_ms(),
                "prd": [update.to_json() for update in prd],
                "events": [{"event": event, "data": data} for event, data in events],
            }
            try:
                self._method("remember", _with(change, iteration=text, verdict=answer))
            except BaseException:
                # What was not saved did not happen. A component that trapped can't be asked, and saves nothing more.
                with suppress(EngineError):
                    self._session = self._ask_session(None)
                raise
            return verdict

    def resume(self, resumption: Resumption) -> None:
        """Goes on with a loop that has stopped."""
        with self._lock:
            self._method("resume", encode({"at_ms": _now_ms(), "resumption": resumption.to_json()}))
            self._session = self._ask_session(None)

    def brief(self) -> Brief:
        """What to tell the agent before the next iteration."""
        return self._session.brief()

    @property
    def snapshot(self) -> Optional[str]:
        """The state as of the last evaluated iteration."""
        return self._session.snapshot

    @property
    def folder(self) -> Path:
        """Where the session's files are."""
        return self._files.path

    def findings(self) -> Any:
        """What was not as it was saved when the session was opened: `[{"code", "file", "message", "kept"}]`."""
        with self._lock:
            return json.loads(self._method("findings"))

    def prd(self) -> Optional[Prd]:
        """The checklist as its file holds it now. None if there is none."""
        with self._lock:
            value = json.loads(self._method("prd"))
        return None if value is None else Prd.from_json(value)

    def progress(self) -> ProgressLog:
        """The progress log as its file holds it now."""
        with self._lock:
            return ProgressLog.from_json(json.loads(self._method("progress")))

    def events(self) -> Any:
        """What happened, oldest first: `[{"seq", "event", "run", "data"}]`."""
        with self._lock:
            return json.loads(self._method("events"))

    def verify(self) -> Any:
        """Compares every file with what was saved: `{"key", "revision", "files": [{"file", "standing", …}]}`."""
        with self._lock:
            self._files.check_open()
            return json.loads(self._files.ask("verify", self._key))

    def close(self) -> None:
        """Lets others write to the session."""
        with self._lock:
            self._files.close()

    def __enter__(self) -> FileMemory:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class _Files:
    """An instance of the memory component, and the folder that it works on."""

    def __init__(self, root: Path, key: str) -> None:
        if os.name != "posix":
            raise FileMemoryError("memory_unsupported", "sessions on the disk need a POSIX system")
        self._disk = _Disk()
        self._memory: Running = _PROGRAM.instance(self._disk.link)
        self._root = root
        self._name: str = self.ask("folder-name", key)
        # Whoever forgets to close it must not keep others out for longer than it lives.
        weakref.finalize(self, self._disk.close)

    @property
    def path(self) -> Path:
        return self._root / self._name

    def lock(self, make: bool) -> None:
        """Opens the session's folder and locks it."""
        from ._disk import BusyError, DiskError, SessionFolder

        try:
            folder = SessionFolder.open(self._root, self._name, make)
            if folder is None:
                raise FileMemoryError(
                    "memory_no_session", f"there is no session {self.path}", "give a contract to begin one"
                )
            self._disk.folder = folder
            folder.lock(self._holder)
            folder.sync_root()
        except BusyError as busy:
            now = int(time.time())
            raise _error(self._raw("busy", str(self.path), str(busy), now)) from None
        except DiskError as error:
            raise FileMemoryError("memory_disk", str(error)) from error

    def _holder(self) -> str:
        program = Path(sys.argv[0]).name or Path(sys.executable).name
        text: str = self._raw("holder-text", os.getpid(), program, int(time.time()))
        return text

    def open_store(self, name: str, *values: Any) -> ResourceAny:
        store = self.ask(name, *values)
        if not isinstance(store, ResourceAny):
            raise EngineError(f"{name} gave no store")
        return store

    def ask(self, name: str, *values: Any) -> Any:
        """Calls a function of the component. Raises the error that it gives."""
        answer = self._raw(name, *values)
        if isinstance(answer, Record):
            raise _error(answer)
        return answer

    def _raw(self, name: str, *values: Any) -> Any:
        from ._disk import DiskError

        try:
            return self._memory.call(self._memory.function(_MEMORY, name), *values)
        except DiskError as error:
            raise FileMemoryError("memory_disk", str(error)) from error

    def check_open(self) -> None:
        """Refuses what comes after the end."""
        self._disk.need()

    def close(self) -> None:
        self._disk.close()


class _Disk:
    """The disk, as the component sees it. Knows nothing of the instance, which would keep the two alive for ever."""

    def __init__(self) -> None:
        self.folder: Optional[SessionFolder] = None

    def close(self) -> None:
        folder, self.folder = self.folder, None
        if folder is not None:
            folder.close()

    def link(self, linker: Linker) -> None:
        with linker.root() as root, root.add_instance(_DISK) as disk:
            for name, function in self._functions().items():
                disk.add_func(name, function)

    def _functions(self) -> dict[str, Callable[..., Any]]:
        """What the component may ask for: its names, and how the answers look there."""
        need = self.need
        return {
            "name": lambda _: need().name(),
            "guard": _plain(lambda: need().guard()),
            "names": lambda _, folder: _or_none(lambda: need().names(folder)),
            "stat": _tagged(lambda place: _or_none(lambda: _stamp(need().stat(place.folder, place.name)))),
            "read": _tagged(
                lambda place, offset: _or_none(lambda: _content(*need().read(place.folder, place.name, offset)))
            ),
            "create": _tagged(
                lambda place, data, synced: _stamp(need().create(place.folder, place.name, _bytes(data), synced))
            ),
            "append": _tagged(lambda place, data: _stamp(need().append(place.folder, place.name, _bytes(data)))),
            "cut": _plain(lambda place, length: need().cut(place.folder, place.name, length)),
            "sync": _plain(lambda place: need().sync(place.folder, place.name)),
            "rename": _plain(lambda old, new: need().rename(old.folder, old.name, new.folder, new.name)),
            "exchange": _plain(lambda one, other: need().exchange(one.folder, one.name, other.folder, other.name)),
            "remove": _plain(lambda place: need().remove(place.folder, place.name)),
            "make-folder": _plain(lambda folder: need().make_folder(folder)),
            "sync-folder": _plain(lambda folder: need().sync_folder(folder)),
        }

    def need(self) -> SessionFolder:
        """The folder, which must be open."""
        if self.folder is None:
            raise FileMemoryError("memory_closed", "the session is closed", "open it again")
        return self.folder


def _or_none(function: Callable[[], Any]) -> Any:
    """What is not there is None."""
    from ._disk import DiskError

    try:
        return function()
    except DiskError as error:
        if error.kind != "not-found":
            raise
        return None


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the answer and the error can be told apart by their types, wasmtime takes them as they are."""
    from ._disk import DiskError

    def answer(_: object, *values: Any) -> Any:
        try:
            return function(*values)
        except DiskError as error:
            return _disk_error(error)

    return answer


def _tagged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where both are records, it wants to be told which it is."""
    from ._disk import DiskError

    def answer(_: object, *values: Any) -> Any:
        try:
            return Variant("ok", function(*values))
        except DiskError as error:
            return Variant("err", _disk_error(error))

    return answer


def _record(**fields: Any) -> Record:
    record = Record()
    for name, value in fields.items():
        setattr(record, name, value)
    return record


def _disk_error(error: DiskError) -> Record:
    return _record(action=error.action, place=error.place, kind=error.kind, message=error.message)


def _stamp(stamp: Stamp) -> Record:
    return _record(length=stamp.length, version=stamp.version)


def _content(data: bytes, stamp: Stamp) -> Record:
    # Text is lifted at once, anything else byte by byte.
    try:
        return _record(bytes=data.decode(), stamp=_stamp(stamp))
    except UnicodeDecodeError:
        return _record(bytes=data, stamp=_stamp(stamp))


def _bytes(data: Union[str, bytes]) -> bytes:
    return data.encode() if isinstance(data, str) else data


def _error(record: Any) -> FileMemoryError:
    return FileMemoryError(record.code, record.message, record.help)


def _with(values: dict[str, Any], **texts: str) -> str:
    """The JSON of some values, and of some more that are JSON already."""
    more = "".join(f',"{name}":{text}' for name, text in texts.items())
    return encode(values)[:-1] + more + "}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
