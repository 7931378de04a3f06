"""How long one `evaluate_final` on an open session takes, in microseconds: `{"1KiB": …, "64KiB": …}`.

From dataclass to dataclass, as a user calls it. Each figure is the median of some rounds.
"""

import json
import statistics
import time

from ralph_gate import Artifact, CheckResult, Iteration, open_session

CONTRACT = {
    "mode": "ralph",
    "completion_token": "COMPLETE",
    "completion_checks": ["tests_green"],
    "loop_max_iters": 10000,
    "no_progress_limit": 0,
}
SENTENCE = "The parser reads the file, line by line; 3 of 14 tests fail with `unexpected token`.\n"
ROUNDS = 15
CALLS = 60


def iterations(size: int) -> "list[Iteration]":
    """Attempts to end the loop, each with an output of `size` bytes."""
    text = (SENTENCE * (size // len(SENTENCE) + 1))[:size]
    result = CheckResult("tests_green", "fail", reason="3 of 14 failed")
    return [
        Iteration(index, "final", output=text, checks=[result], artifacts=[Artifact("tree", "digest", f"{index:x}")])
        for index in range(1, CALLS + 1)
    ]


def measure(size: int) -> float:
    """Microseconds per call."""
    times = []
    for _ in range(ROUNDS):
        session, turns = open_session(CONTRACT), iterations(size)
        start = time.perf_counter()
        for iteration in turns:
            session.evaluate_final(iteration)
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    return round(statistics.median(times[1:]), 1)


if __name__ == "__main__":
    print(json.dumps({"1KiB": measure(1 << 10), "64KiB": measure(64 << 10)}))
