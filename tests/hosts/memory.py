"""Goes on with a session in Python: `python memory.py ROOT KEY` evaluates the iteration that is given as JSON, and saves it.

Prints the verdict's decision and the number of events as JSON. Where the loop has stopped, an operator resumes it first.
"""

import json
import sys

from ralph_gate import FileMemory, Resumption, read_snapshot


def main() -> None:
    root, key = sys.argv[1:]
    iteration = json.load(sys.stdin)
    with FileMemory(key, root=root) as memory:
        if memory.snapshot is not None and read_snapshot(memory.snapshot).stopped is not None:
            memory.resume(Resumption("alice", "goes on in Python"))
        iteration.setdefault("index", memory.brief().iteration)
        verdict = memory.evaluate_final(iteration)
        print(json.dumps({"decision": verdict.decision, "events": len(memory.events())}))


if __name__ == "__main__":
    main()
