"""Evaluates again and again, and fails unless memory stays flat: `python leak.py [N]`.

Half of the evaluations go through sessions, each of which is dropped after 250 iterations, half through the function
without state. The first tenth warms up.
"""

import gc
import json
import os
import sys

from ralph_gate import CheckResult, GateError, Iteration, evaluate_final, open_session

CONTRACT = {
    "mode": "ralph",
    "completion_token": "COMPLETE",
    "completion_checks": ["tests_green"],
    "loop_max_iters": 10000,
    "no_progress_limit": 0,
}
PER_SESSION = 250
# What the allocator may keep beyond what is in use.
ALLOWED_KIB = 4096


def resident_kib() -> int:
    """What this process occupies."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def iteration(index: int, number: int) -> Iteration:
    output = f"Turn {number}. " + "Still at it. " * (number % 200)
    return Iteration(index, "final", output=output, checks=[CheckResult("tests_green", "fail", reason=str(number))])


def evaluate(count: int) -> None:
    """`count` evaluations; one in a hundred fails."""
    session = open_session(CONTRACT)
    index = 0
    for number in range(count):
        if number % 2:
            evaluate_final(CONTRACT, None, iteration(1, number))
            continue
        if index == PER_SESSION:
            session, index = open_session(CONTRACT), 0
        index += 1
        session.evaluate_final(iteration(index, number))
        if number % 100 == 0:
            try:
                session.evaluate_final(iteration(index, number))
            except GateError:
                continue
            raise AssertionError("an index that was used already was accepted")


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    evaluate(count // 10)
    before = resident_kib()
    samples = [before]
    for _ in range(9):
        evaluate(count // 10)
        samples.append(resident_kib())
    flat = samples[-1] - before <= ALLOWED_KIB
    print(json.dumps({"evaluations": count // 10 * 10, "resident_kib": samples, "flat": flat}))
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
