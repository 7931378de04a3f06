"""What the examples share: a contract, evidence from a real run, and work that is right at the third try."""

import subprocess
import sys

from ralph_gate import CheckResult, Contract

CONTRACT: Contract = {
    "mode": "ralph",
    "completion_token": "COMPLETE",
    "completion_checks": ["tests_green"],
    "loop_max_iters": 5,
}

# What the scripted model says, turn by turn.
TURNS = [
    "I think that it works. COMPLETE",
    "All done.\n<promise>COMPLETE</promise>",
    "Now it is fixed.\n<promise>COMPLETE</promise>",
]


class Work:
    """Stands for the files that an agent edits."""

    def __init__(self) -> None:
        self.versions = iter(["assert 1 + 1 == 3", "assert 1 + 1 == 3", "assert 1 + 1 == 2"])

    def run_checks(self, output: str) -> "list[CheckResult]":
        """Runs the tests. What the agent says of them does not count."""
        run = subprocess.run([sys.executable, "-c", next(self.versions)], capture_output=True, text=True)
        reason = run.stderr.strip().split("\n")[-1]
        return [CheckResult("tests_green", "pass" if run.returncode == 0 else "fail", reason=reason)]
