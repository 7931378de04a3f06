"""The file functions that the memory component is given: what they refuse, and what they make durable."""

import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Callable

from ralph_gate._disk import BusyError, DiskError, SessionFolder

HOLD = """
import sys
from pathlib import Path
from ralph_gate._disk import SessionFolder
folder = SessionFolder.open(Path(sys.argv[1]), "s", make=True)
folder.lock(lambda: "the other one")
print("locked", flush=True)
sys.stdin.read()
"""


class Disk(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name) / "root"
        folder = SessionFolder.open(self.root, "s", make=True)
        assert folder is not None
        self.folder = folder
        self.addCleanup(lambda: self.folder.close())

    def refused(self, kind: str, function: Callable[..., object], *values: object) -> DiskError:
        with self.assertRaises(DiskError) as caught:
            function(*values)
        self.assertEqual(caught.exception.kind, kind)
        return caught.exception

    def test_nothing_is_made_unless_it_is_to_be_made(self) -> None:
        self.assertIsNone(SessionFolder.open(self.root, "other", make=False))
        self.assertIsNone(SessionFolder.open(self.root / "no" / "root", "s", make=False))
        self.assertEqual(os.listdir(self.root), ["s"])

    def test_files_and_folders_are_their_owners_alone(self) -> None:
        self.folder.create("session", "a", b"", True)
        self.folder.make_folder("checkpoints")
        modes = [stat.S_IMODE(os.stat(self.root / path).st_mode) for path in (".", "s", "s/a", "s/checkpoints")]
        self.assertEqual(modes, [0o700, 0o700, 0o600, 0o700])

    def test_what_is_written_is_read(self) -> None:
        stamp = self.folder.create("session", "a", b"one\n", False)
        self.refused("already-exists", self.folder.create, "session", "a", b"", False)
        after = self.folder.append("session", "a", "zwö\n".encode())
        self.assertNotEqual(stamp.version, after.version)
        self.assertEqual(self.folder.read("session", "a", 4), ("zwö\n".encode(), after))
        self.assertEqual(self.folder.read("session", "a", 99)[0], b"")
        self.assertEqual(self.folder.stat("session", "a"), after)
        self.folder.cut("session", "a", 3)
        self.folder.sync("session", "a")
        self.assertEqual(self.folder.read("session", "a", 0)[0], b"one")

    def test_every_append_is_seen_from_outside(self) -> None:
        self.folder.create("session", "a", b"", False)
        versions = {self.folder.append("session", "a", b"").version for _ in range(50)}
        self.assertEqual(len(versions), 50)

    def test_names_are_renamed_exchanged_and_removed(self) -> None:
        self.folder.make_folder("checkpoints")
        for name in ("b", "a"):
            self.folder.create("session", name, name.encode(), False)
        self.assertEqual(self.folder.names("session"), ["a", "b", "checkpoints"])
        if self.folder.exchange("session", "a", "session", "b"):
            self.assertEqual(self.folder.read("session", "a", 0)[0], b"b")
        self.assertFalse(self.folder.exchange("session", "a", "session", "nothing"))
        self.folder.rename("session", "a", "checkpoints", "c")
        self.folder.sync_folder("checkpoints")
        self.folder.remove("session", "b")
        self.folder.remove("session", "b")
        self.assertEqual(self.folder.names("checkpoints"), ["c"])
        self.refused("not-found", self.folder.rename, "session", "a", "session", "b")
        self.refused("not-found", self.folder.names, "quarantine")

    def test_links_pipes_and_folders_are_refused(self) -> None:
        elsewhere = self.root / "elsewhere"
        elsewhere.write_text("secret")
        session = self.root / "s"
        (session / "link").symlink_to(elsewhere)
        os.link(elsewhere, session / "hard")
        os.mkfifo(session / "pipe")
        (session / "folder").mkdir()
        kinds = {"link": "symbolic-link", "hard": "hard-link", "pipe": "special", "folder": "is-folder"}
        for name, kind in kinds.items():
            self.refused(kind, self.folder.read, "session", name, 0)
            self.refused(kind, self.folder.append, "session", name, b"x")
            self.refused(kind, self.folder.stat, "session", name)
        self.assertEqual(elsewhere.read_text(), "secret")

    def test_folders_that_are_links_or_files_are_refused(self) -> None:
        (self.root / "s" / "checkpoints").symlink_to(self.root)
        (self.root / "s" / "quarantine").write_text("")
        self.refused("symbolic-link", self.folder.names, "checkpoints")
        self.refused("not-a-folder", self.folder.names, "quarantine")
        (self.root / "link").symlink_to(self.root / "s")
        self.refused("symbolic-link", SessionFolder.open, self.root, "link", True)

    def test_a_folder_or_a_lock_that_was_swapped_is_noticed(self) -> None:
        self.folder.lock(lambda: "me")
        self.folder.make_folder("checkpoints")
        self.folder.names("checkpoints")
        self.folder.guard()
        session = self.root / "s"
        for path in (session / "checkpoints", session / "lock", session):
            path.rename(self.root / "aside")
            path.touch() if path.name == "lock" else path.mkdir()
            self.assertEqual(self.refused("swapped", self.folder.guard).place, str(path))
            path.unlink() if path.name == "lock" else path.rmdir()
            (self.root / "aside").rename(path)
            self.folder.guard()

    def test_one_process_at_a_time_writes_and_a_dead_one_holds_no_lock(self) -> None:
        held = [sys.executable, "-c", HOLD, str(self.root)]
        with subprocess.Popen(held, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            self.assertEqual(other.stdout.readline(), "locked\n")
            with self.assertRaises(BusyError) as caught:
                self.folder.lock(lambda: "me")
            self.assertEqual(str(caught.exception), "the other one")
            other.kill()
        self.folder.lock(lambda: "me")
        self.assertEqual((self.root / "s" / "lock").read_text(), "me")
