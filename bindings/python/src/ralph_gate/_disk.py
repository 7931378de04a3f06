"""A session's folder on the disk, as the memory component reaches it: a dozen file functions and the lock.

Every file is opened relative to a folder that is already open, never by a path and never through a link: what an agent
puts there can't lead anywhere else. What is written, in which order, and what a damaged file means, the component
decides.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import itertools
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

# A pipe that is opened for reading would wait for its other end.
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_DIRECTORY | os.O_RDONLY | os.O_CLOEXEC
_READ_LIMIT = 256 << 20
_HOLDER_LIMIT = 4096
_LOCK_ATTEMPTS = 100

_KINDS = {
    errno.ENOENT: "not-found",
    errno.EEXIST: "already-exists",
    errno.EACCES: "permission-denied",
    errno.EPERM: "permission-denied",
    errno.EROFS: "read-only",
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
}

_counter = itertools.count()


class DiskError(Exception):
    """The disk said no."""

    def __init__(self, action: str, place: Path, kind: str, message: str = "") -> None:
        super().__init__(f"{place}: {message or kind}")
        self.action = action
        self.place = str(place)
        self.kind = kind
        self.message = message


class BusyError(Exception):
    """Somebody else has locked the session. Carries what the lock file says."""


@dataclass
class Stamp:
    """What tells one state of a file from another without reading it."""

    length: int
    version: str


@contextmanager
def _doing(action: str, place: Path) -> Iterator[None]:
    """Turns what the system says into a `DiskError`."""
    try:
        yield
    except OSError as error:
        kind = _KINDS.get(error.errno or 0, "other")
        raise DiskError(action, place, kind, error.strerror or str(error)) from error


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, f"{status.st_ino}:{status.st_mtime_ns}:{status.st_ctime_ns}")


def _refusal(status: os.stat_result) -> Optional[str]:
    """Why it is not opened, if it is anything but a plain file with one name."""
    if stat.S_ISREG(status.st_mode):
        return "hard-link" if status.st_nlink > 1 else None
    if stat.S_ISLNK(status.st_mode):
        return "symbolic-link"
    return "is-folder" if stat.S_ISDIR(status.st_mode) else "special"


def _lstat(folder: int, name: str) -> Optional[os.stat_result]:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _make(at: int, name: str, path: Path) -> None:
    with _doing("write", path):
        try:
            os.mkdir(name, 0o700, dir_fd=at)
        except FileExistsError:
            return


def _open_folder(at: int, name: str, path: Path) -> Optional[int]:
    """Opens a folder, not through a link. None if it is not there."""
    with _doing("read", path):
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise
            found = _lstat(at, name)
            is_link = found is not None and stat.S_ISLNK(found.st_mode)
            raise DiskError("read", path, "symbolic-link" if is_link else "not-a-folder") from error


class SessionFolder:
    """A session's folder, open."""

    def __init__(self, root: Path, name: str, root_fd: int, session_fd: int) -> None:
        self._path = root / name
        self._name = name
        self._root = root_fd
        self._folders = {"session": (session_fd, _identity(os.fstat(session_fd)))}
        self._lock: Optional[tuple[int, tuple[int, int]]] = None

    @classmethod
    def open(cls, root: Path, name: str, make: bool) -> Optional[SessionFolder]:
        """Opens the folder `name` below `root`. None if it is not there and is not to be made."""
        parent, root_name = (root.parent, root.name) if root.name not in ("", "..") else (root, ".")
        with _doing("read", parent):
            try:
                parent_fd = os.open(parent, _FOLDER)
            except FileNotFoundError:
                if make:
                    raise
                return None
        try:
            root_fd = cls._open_or_make(parent_fd, root_name, root, make)
        finally:
            os.close(parent_fd)
        if root_fd is None:
            return None
        try:
            session_fd = cls._open_or_make(root_fd, name, root / name, make)
        except DiskError:
            os.close(root_fd)
            raise
        if session_fd is None:
            os.close(root_fd)
            return None
        return cls(root, name, root_fd, session_fd)

    @staticmethod
    def _open_or_make(at: int, name: str, path: Path, make: bool) -> Optional[int]:
        folder = _open_folder(at, name, path)
        if folder is None and make:
            _make(at, name, path)
            folder = _open_folder(at, name, path)
        return folder

    def close(self) -> None:
        """Closes everything, which also gives the lock back."""
        held = [] if self._lock is None else [self._lock[0]]
        for descriptor in [*held, *(folder for folder, _ in self._folders.values()), self._root]:
            os.close(descriptor)
        self._lock, self._folders, self._root = None, {}, -1

    # The lock

    def lock(self, holder: Callable[[], str]) -> None:
        """Locks the session until it is closed or the process ends. `holder` says who does it, for people."""
        for _ in range(_LOCK_ATTEMPTS):
            file, status = self._open("session", "lock", os.O_RDWR | os.O_CREAT, "lock")
            try:
                self._take(file)
                # Somebody may have removed the file before it was locked: then this lock excludes nobody.
                now = _lstat(self._folders["session"][0], "lock")
                if now is not None and _identity(now) == _identity(status):
                    self._write_holder(file, holder())
                    self._lock = file, _identity(status)
                    return
            finally:
                if self._lock is None:
                    os.close(file)
        raise DiskError("lock", self._path / "lock", "swapped")

    def _take(self, file: int) -> None:
        with _doing("lock", self._path / "lock"):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(os.pread(file, _HOLDER_LIMIT, 0).decode("utf-8", "replace")) from None

    @staticmethod
    def _write_holder(file: int, text: str) -> None:
        # A full disk is no reason not to lock.
        try:
            os.ftruncate(file, 0)
            os.pwrite(file, text.encode(), 0)
        except OSError:
            return

    def sync_root(self) -> None:
        """Makes the name of the session's folder itself durable."""
        self._sync_fd(self._root, self._path.parent)

    # What the component asks for

    def name(self) -> str:
        """The session, for messages."""
        return str(self._path)

    def guard(self) -> None:
        """Checks that the folders and the lock file are still the ones that were opened."""
        session = self._folders["session"][0]
        expected = [(self._root, self._name, self._folders["session"][1], self._path)]
        if self._lock is not None:
            expected.append((session, "lock", self._lock[1], self._path / "lock"))
        for folder in self._folders.keys() - {"session"}:
            expected.append((session, folder, self._folders[folder][1], self._path / folder))
        for at, name, identity, path in expected:
            status = _lstat(at, name)
            if status is None or _identity(status) != identity:
                raise DiskError("read", path, "swapped")

    def names(self, folder: str) -> list[str]:
        """The names in a folder that are text, sorted by their bytes."""
        descriptor = self._need(folder)
        with _doing("read", self._shown(folder)):
            names = [os.fsencode(name) for name in os.listdir(descriptor)]
        return [name.decode() for name in sorted(names) if _is_text(name)]

    def stat(self, folder: str, name: str) -> Stamp:
        """What a file looks like from outside."""
        descriptor = self._need(folder)
        with _doing("read", self._shown(folder, name)):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        self._refuse(status, folder, name)
        return _stamp(status)

    def read(self, folder: str, name: str, offset: int) -> tuple[bytes, Stamp]:
        """A file's bytes from an offset on. What is added meanwhile is for the next look."""
        file, status = self._open(folder, name, os.O_RDONLY, "read")
        try:
            left = max(status.st_size - offset, 0)
            if left > _READ_LIMIT:
                raise DiskError("read", self._shown(folder, name), "too-large")
            parts = []
            with _doing("read", self._shown(folder, name)):
                while left > 0 and (part := os.pread(file, left, offset)):
                    parts.append(part)
                    offset, left = offset + len(part), left - len(part)
            return b"".join(parts), _stamp(status)
        finally:
            os.close(file)

    def create(self, folder: str, name: str, data: bytes, synced: bool) -> Stamp:
        """Makes a file that is not there yet."""
        file, _ = self._open(folder, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, "write")
        try:
            self._write(file, data, 0, self._shown(folder, name))
            if synced:
                with _doing("sync", self._shown(folder, name)):
                    os.fsync(file)
            return self._finish(file, self._shown(folder, name))
        finally:
            os.close(file)

    def append(self, folder: str, name: str, data: bytes) -> Stamp:
        """Adds to the end of a file, which is made if it is not there."""
        file, status = self._open(folder, name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, "write")
        try:
            self._write(file, data, status.st_size, self._shown(folder, name))
            _set_unique_time(file, status)
            return self._finish(file, self._shown(folder, name))
        finally:
            os.close(file)

    def cut(self, folder: str, name: str, length: int) -> None:
        """Shortens a file."""
        file, _ = self._open(folder, name, os.O_WRONLY, "write")
        try:
            with _doing("write", self._shown(folder, name)):
                os.ftruncate(file, length)
        finally:
            os.close(file)

    def sync(self, folder: str, name: str) -> None:
        """Makes a file's content durable."""
        file, _ = self._open(folder, name, os.O_RDONLY, "sync")
        try:
            with _doing("sync", self._shown(folder, name)):
                os.fsync(file)
        finally:
            os.close(file)

    def rename(self, old_folder: str, old: str, new_folder: str, new: str) -> None:
        """Gives a file another name, and replaces what had that name."""
        source, target = self._need(old_folder), self._need(new_folder)
        with _doing("rename", self._shown(old_folder, old)):
            os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)

    def exchange(self, one_folder: str, one: str, other_folder: str, other: str) -> bool:
        """Swaps two files in one step. False where the system can't."""
        left, right = self._need(one_folder), self._need(other_folder)
        if _renameat2 is None:
            return False
        if _renameat2(left, os.fsencode(one), right, os.fsencode(other), 2) == 0:
            return True
        code = ctypes.get_errno()
        if code in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOENT):
            return False
        with _doing("rename", self._shown(one_folder, one)):
            raise OSError(code, os.strerror(code))

    def remove(self, folder: str, name: str) -> None:
        """Removes a file. It is no error if it is not there."""
        descriptor = self._need(folder)
        with _doing("remove", self._shown(folder, name)):
            try:
                os.unlink(name, dir_fd=descriptor)
            except FileNotFoundError:
                return

    def make_folder(self, folder: str) -> None:
        """Makes a folder, unless it is there."""
        if folder != "session":
            _make(self._folders["session"][0], folder, self._shown(folder))

    def sync_folder(self, folder: str) -> None:
        """Makes the names in a folder durable."""
        self._sync_fd(self._need(folder), self._shown(folder))

    # The rest

    def _shown(self, folder: str, name: str = "") -> Path:
        path = self._path if folder == "session" else self._path / folder
        return path / name if name else path

    def _need(self, folder: str) -> int:
        """The open folder, which must be there."""
        if folder not in self._folders:
            path = self._shown(folder)
            opened = _open_folder(self._folders["session"][0], folder, path)
            if opened is None:
                raise DiskError("read", path, "not-found", os.strerror(errno.ENOENT))
            self._folders[folder] = opened, _identity(os.fstat(opened))
        return self._folders[folder][0]

    def _open(self, folder: str, name: str, flags: int, action: str) -> tuple[int, os.stat_result]:
        """Opens a plain file that has no other name."""
        descriptor = self._need(folder)
        try:
            file = os.open(name, flags | _PLAIN, 0o600, dir_fd=descriptor)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR, errno.ENOTDIR):
                self._refuse(_lstat(descriptor, name), folder, name)
            with _doing(action, self._shown(folder, name)):
                raise
        try:
            status = os.fstat(file)
            self._refuse(status, folder, name)
        except DiskError:
            os.close(file)
            raise
        return file, status

    def _refuse(self, status: Optional[os.stat_result], folder: str, name: str) -> None:
        kind = None if status is None else _refusal(status)
        if kind is not None:
            raise DiskError("read", self._shown(folder, name), kind)

    def _write(self, file: int, data: bytes, before: int, place: Path) -> None:
        """Writes all of it, and sees after each part that it arrived."""
        done, view = 0, memoryview(data)
        with _doing("write", place):
            while done < len(data):
                written = os.write(file, view[done:])
                if written == 0:
                    raise OSError(errno.EIO, "nothing could be written")
                done += written
                arrived = os.fstat(file).st_size - before
                if arrived < done:
                    raise OSError(errno.EIO, f"{done} bytes were written and {arrived} arrived")

    @staticmethod
    def _finish(file: int, place: Path) -> Stamp:
        with _doing("write", place):
            return _stamp(os.fstat(file))

    @staticmethod
    def _sync_fd(folder: int, place: Path) -> None:
        with _doing("sync", place):
            # A descriptor of its own: one that has reported an error may not report it again.
            fresh = os.open(".", _FOLDER, dir_fd=folder)
            try:
                os.fsync(fresh)
            finally:
                os.close(fresh)


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _set_unique_time(file: int, status: os.stat_result) -> None:
    """A time of change that no later change has by chance: many file systems count in milliseconds."""
    count = next(_counter) ^ (os.getpid() << 32)
    nanoseconds = (count * 0x9E3779B97F4A7C15 & (1 << 64) - 1) % 1_000_000_000
    seconds = status.st_mtime_ns // 1_000_000_000 * 1_000_000_000
    try:
        os.utime(file, ns=(status.st_atime_ns, seconds + nanoseconds))
    except OSError:
        # Then a change is noticed a few milliseconds later.
        return


def _find_renameat2() -> Optional[Callable[[int, bytes, int, bytes, int], int]]:
    """The system call that swaps two names, where the C library offers it."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    found: Callable[[int, bytes, int, bytes, int], int] = function
    return found


_renameat2 = _find_renameat2()
