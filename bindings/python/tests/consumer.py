"""What a user writes, for a type checker. Each `type: ignore` is a mistake that it must find."""

from typing import Optional

from ralph_gate import (
    CheckResult,
    Contract,
    Decision,
    FailureCode,
    GateError,
    Iteration,
    Outcome,
    Session,
    Verdict,
    call,
    check_contract,
    open_session,
)

contract: Contract = {
    "mode": "ralph",
    "completion_token": {"text": "COMPLETE", "nonce": True},
    "completion_checks": ["tests_green", {"id": "lint", "required": False}],
    "cost_budget_usd": "1.50",
}
misspelt: Contract = {"loop_max_itres": 3}  # type: ignore[typeddict-unknown-key]
wrong: Contract = {"mode": "ralf"}  # type: ignore[typeddict-item]


def judge(session: Session, passed: bool) -> Verdict:
    outcome: Outcome = "pass" if passed else "fail"
    return session.evaluate_final(Iteration(1, "final", checks=[CheckResult("tests_green", outcome)]))


def look(verdict: Verdict) -> "list[FailureCode]":
    decision: Decision = verdict.decision
    text: str = verdict.stop_reason  # type: ignore[assignment]
    if decision == "stopped":  # type: ignore[comparison-overlap]
        text = "never"
    shadow: Optional[Decision] = verdict.shadow.decision if verdict.shadow else None
    print(text, shadow, verdict.counters.guardrails[0].percent + 1)
    return [failure.code for failure in verdict.failures]


Iteration(1, "finale")  # type: ignore[arg-type]
Iteration(1)  # type: ignore[call-arg]
call("evaluate_final", {})  # type: ignore[arg-type]

try:
    look(judge(open_session(contract), passed=True))
    look(judge(open_session("mode: ralph"), passed=False))
except GateError as error:
    print(error.code, error.path, [problem.line for problem in error.problems], check_contract(contract).valid)
