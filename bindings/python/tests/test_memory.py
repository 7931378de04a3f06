"""A loop on the disk survives its process, and only one process writes to it."""

import gc
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Optional

from ralph_gate import CheckResult, FileMemory, FileMemoryError, GateError, Iteration, PrdUpdate, Resumption, Text

CONTRACT = {
    "mode": "ralph",
    "completion_checks": ["tests_green"],
    "loop_max_iters": 10000,
    "no_progress_limit": 0,
}
PRD = '{"items": [{"id": "a", "passes": false}]}'

WRITER = """
import sys
from ralph_gate import FileMemory, Iteration
with FileMemory("key", root=sys.argv[1]) as memory:
    while True:
        index = memory.brief().iteration
        memory.evaluate_final(Iteration(index, "continue", output=f"turn {index}"))
        print(index, flush=True)
"""


def turn(index: int, outcome: str = "fail") -> Iteration:
    return Iteration(
        index,
        "final",
        output=f"turn {index}",
        checks=[CheckResult("tests_green", outcome)],  # type: ignore[arg-type]
    )


def keep_logs(root: Path, test: str) -> None:
    """Copies the logs of a test to where `cargo xtask test` replays all of them. What was put aside is no log."""
    kept = os.environ.get("RALPH_GATE_TEST_LOGS")
    logs = [log for log in sorted(root.glob("*/events.jsonl")) if log.is_file() and not log.is_symlink()]
    for index, log in enumerate(logs if kept else []):
        shutil.copyfile(log, Path(kept or "") / f"python-{test}-{os.getpid()}-{index}.jsonl")


class Memory(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name) / ".ralph"
        self.addCleanup(keep_logs, self.root, self.id())

    def open(self, contract: Optional[Text] = None, key: str = "key", prd: Optional[str] = None) -> FileMemory:
        memory = FileMemory(key, contract, root=self.root, prd=prd)
        self.addCleanup(memory.close)
        return memory

    def refused(self, code: str, contract: Optional[Text] = None, key: str = "key") -> FileMemoryError:
        with self.assertRaises(FileMemoryError) as caught:
            self.open(contract, key)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def assert_whole(self, memory: FileMemory) -> None:
        standings = {file["file"]: file["standing"] for file in memory.verify()["files"]}
        self.assertEqual(set(standings.values()), {"right"}, standings)

    def test_a_loop_is_begun_closed_and_gone_on_with(self) -> None:
        with self.open(CONTRACT, prd=PRD) as memory:
            self.assertIsNone(memory.snapshot)
            verdict = memory.evaluate_final(turn(1), prd=[PrdUpdate("a", True, "seen")], events=[("noted", {"n": 1})])
            self.assertEqual(memory.snapshot, verdict.snapshot)
            folder = memory.folder
        self.assertLessEqual({"contract.json", "prd.json", "progress.txt", "events.jsonl"}, set(os.listdir(folder)))
        with self.open() as memory:
            self.assertEqual((memory.brief().iteration, memory.snapshot), (2, verdict.snapshot))
            self.assertEqual([event["event"] for event in memory.events()], ["loop_started", "noted", "verdict"])
            prd = memory.prd()
            self.assertEqual(prd.passed if prd else None, 1)
            self.assertEqual([entry.iteration for entry in memory.progress().entries], [1])
            self.assertEqual(memory.findings(), [])
            self.assertEqual(memory.evaluate_final(turn(2, "pass")).stop_reason, "completed")
            self.assert_whole(memory)

    def test_a_stopped_loop_leaves_a_handoff_and_is_resumed(self) -> None:
        with self.open({**CONTRACT, "loop_max_iters": 1}) as memory:
            self.assertEqual(memory.evaluate_final(turn(1)).stop_reason, "max_iters")
            self.assertIn("limit of 1 iteration reached", (memory.folder / "handoff.md").read_text())
            with self.assertRaises(GateError) as caught:
                memory.evaluate_final(turn(2))
            self.assertEqual(caught.exception.code, "loop_stopped")
            memory.resume(Resumption("alice", "it is fixed"))
            self.assertEqual(memory.evaluate_final(turn(2, "pass")).stop_reason, "completed")

    def test_without_a_session_a_contract_is_needed_and_another_contract_is_refused(self) -> None:
        self.refused("memory_no_session")
        self.assertFalse(self.root.exists())
        with self.assertRaises(GateError) as caught:
            self.open({"mode": "ralph"})
        self.assertEqual(caught.exception.code, "invalid_contract")
        with self.open(CONTRACT) as memory:
            memory.evaluate_final(turn(1))
        with self.assertRaises(GateError) as caught:
            self.open({**CONTRACT, "loop_max_iters": 7})
        self.assertEqual(caught.exception.code, "contract_changed")
        self.assertEqual(self.open(CONTRACT).brief().iteration, 2)

    def test_no_key_leads_out_of_the_root(self) -> None:
        for key in ("../out", "/etc/x", "a/b", "CON", "x" * 10_000):
            self.assertEqual(self.open(CONTRACT, key).folder.parent, self.root)
        self.assertEqual(len(os.listdir(self.root)), 5)

    def test_only_one_writes(self) -> None:
        memory = self.open(CONTRACT)
        busy = self.refused("memory_busy")
        self.assertIn(str(os.getpid()), str(busy))
        self.assertEqual(str(pickle.loads(pickle.dumps(busy))), str(busy))
        memory.close()
        self.open()

    def test_who_forgets_to_close_keeps_nobody_out(self) -> None:
        FileMemory("key", CONTRACT, root=self.root)
        gc.collect()
        self.open()

    def test_a_closed_memory_says_so(self) -> None:
        memory = self.open(CONTRACT)
        memory.close()
        with self.assertRaises(FileMemoryError) as caught:
            memory.evaluate_final(turn(1))
        self.assertEqual(caught.exception.code, "memory_closed")

    def test_threads_take_turns(self) -> None:
        memory = self.open(CONTRACT)
        lock = threading.Lock()

        def work() -> None:
            for _ in range(5):
                with lock:
                    memory.evaluate_final(turn(memory.brief().iteration))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(memory.brief().iteration, 16)
        self.assert_whole(memory)

    def test_what_a_killed_process_had_said_is_there(self) -> None:
        self.open(CONTRACT).close()
        for _ in range(2):
            writer = [sys.executable, "-c", WRITER, str(self.root)]
            with subprocess.Popen(writer, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                said = [process.stdout.readline() for _ in range(5)]
                process.send_signal(signal.SIGKILL)
                said += process.stdout.readlines()
            last = int([line for line in said if line.endswith("\n")][-1])
            with self.open() as memory:
                self.assertGreater(memory.brief().iteration, last)
                self.assert_whole(memory)

    def test_what_could_not_be_saved_did_not_happen(self) -> None:
        memory = self.open(CONTRACT)
        before = memory.evaluate_final(turn(1)).snapshot
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
            with self.assertRaises(FileMemoryError):
                memory.evaluate_final(turn(2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, handler)
        self.assertEqual((memory.snapshot, memory.brief().iteration), (before, 2))
        memory.close()
        again = self.open()
        self.assertEqual(again.evaluate_final(turn(2)).decision, "continue")
        self.assert_whole(again)

    def test_damage_is_mended_and_reported(self) -> None:
        with self.open(CONTRACT) as memory:
            for index in (1, 2):
                memory.evaluate_final(turn(index))
            folder = memory.folder
        (folder / "contract.json").write_text("{}")
        with (folder / "progress.txt").open("ab") as file:
            file.write(b"a note \xff\xfe\n")
        with self.open() as memory:
            self.assertIn("contract.json", {finding["file"] for finding in memory.findings()})
            memory.evaluate_final(turn(3))
        self.assertIn(b"\xff\xfe", (folder / "progress.txt").read_bytes())
        self.assertIn("tests_green", (folder / "contract.json").read_text())

    def test_a_link_in_place_of_a_folder_or_file_is_not_followed(self) -> None:
        with self.open(CONTRACT) as memory:
            memory.evaluate_final(turn(1))
            folder = memory.folder
        elsewhere = self.root / "elsewhere"
        (folder / "checkpoints").rename(elsewhere)
        (folder / "checkpoints").symlink_to(elsewhere)
        with self.assertRaises(FileMemoryError) as caught:
            self.open()
        self.assertIn("checkpoints", str(caught.exception))
