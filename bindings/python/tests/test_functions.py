"""The functions of the package are those of the gate, and marshal without loss."""

import json
import os
import pickle
import threading
import unittest
from collections.abc import Mapping
from typing import Any, get_type_hints

import ralph_gate
from ralph_gate import (
    CheckResult,
    EngineError,
    GateError,
    Issue,
    IssueStates,
    Iteration,
    LoopFile,
    LoopFileChange,
    PrdUpdate,
    ProgressEntry,
    Resumption,
    open_session,
)

TOKEN: "Mapping[str, object]" = {"mode": "ralph", "completion_token": "COMPLETE"}
CHECK: "Mapping[str, object]" = {"mode": "ralph", "completion_checks": ["tests_green"], "loop_max_iters": 2}
DONE = "<promise>COMPLETE</promise>"


def face() -> "set[str]":
    """The functions of the JSON face, as the gate lists them."""
    message: str = json.loads(ralph_gate.call("?", "{}"))["error"]["message"]
    return set(message.partition("the functions are ")[2].split(", "))


class Functions(unittest.TestCase):
    def test_every_function_of_the_gate_is_there(self) -> None:
        names = face()
        self.assertIn("evaluate_final", names)
        self.assertEqual(names | {"call"}, set(ralph_gate.functions.__all__))

    def test_everything_that_is_offered_exists_and_has_type_hints(self) -> None:
        for name in ralph_gate.__all__:
            value = getattr(ralph_gate, name)
            if isinstance(value, type) and value.__module__ == "ralph_gate.types":
                self.assertTrue(get_type_hints(value), name)

    def test_a_contract_is_read_from_a_text_and_from_a_mapping(self) -> None:
        self.assertTrue(ralph_gate.check_contract(TOKEN).valid)
        report = ralph_gate.check_contract("mode: ralph\nloop_max_itres: 3\n")
        self.assertFalse(report.valid)
        self.assertEqual((report.problems[0].line, report.problems[0].column), (2, 1))
        self.assertIn("loop_max_iters", report.problems[0].help or "")
        self.assertFalse(ralph_gate.check_contract('mode = "ralph"', "json").valid)

    def test_a_request_is_routed(self) -> None:
        self.assertEqual(ralph_gate.route(TOKEN).mode, "ralph")
        self.assertEqual(ralph_gate.route(TOKEN, {"ralph_enabled": False}).reason, "disabled")

    def test_an_iteration_is_evaluated_without_a_session(self) -> None:
        iteration = Iteration(1, "final", output=DONE)
        verdict = ralph_gate.evaluate_final(TOKEN, None, iteration)
        self.assertEqual((verdict.decision, verdict.stop_reason, verdict.signal), ("stop", "completed", "LOOP_DONE"))
        self.assertEqual(ralph_gate.evaluate_final(TOKEN, None, iteration.to_json()), verdict)

    def test_a_stopped_loop_is_resumed(self) -> None:
        verdict = ralph_gate.evaluate_final(TOKEN, None, Iteration(1, "final", output=DONE))
        snapshot = ralph_gate.resume(TOKEN, verdict.snapshot or "", Resumption("alice", "once more"))
        self.assertEqual(ralph_gate.read_snapshot(snapshot).resumed, 1)
        self.assertEqual(ralph_gate.write_brief(TOKEN, snapshot).iteration, 2)

    def test_promises_fingerprints_and_signals(self) -> None:
        report = ralph_gate.parse_promises(f"`{DONE}`")
        self.assertEqual((report.accepted, report.tags[0].status), (None, "in_inline_code"))
        self.assertEqual(ralph_gate.parse_promises(f"{DONE} more", "lenient").accepted, "COMPLETE")
        one, two = (ralph_gate.take_fingerprint(Iteration(1, "final", output=text)) for text in ("a", "b"))
        self.assertNotEqual(one.digest, two.digest)
        states = IssueStates([Issue("a", "done"), Issue("b", "proposed", depends_on=["a"])])
        self.assertEqual(ralph_gate.decide_signal(states).selectable, ["b"])

    def test_files_are_read_and_written(self) -> None:
        prd = '{"items": [{"id": "a", "passes": false}]}'
        self.assertEqual(ralph_gate.read_prd(ralph_gate.update_prd(prd, [PrdUpdate("a", True)])).passed, 1)
        entry = ProgressEntry(3, "parser", "It works.")
        self.assertEqual(ralph_gate.read_progress(ralph_gate.write_progress(entry)).entries, [entry])
        file = LoopFile(active=True, iteration=1, max_iterations=5, prompt="Do it.\n", completion_promise="DONE")
        text = ralph_gate.update_loop_file(ralph_gate.write_loop_file(file), LoopFileChange(iteration=2))
        self.assertEqual(ralph_gate.read_loop_file(text).iteration, 2)

    def test_an_error_has_code_message_path_and_problems(self) -> None:
        wrong = {"mode": "ralph", "loop_max_iters": 0, "plateau_limit": -1}
        with self.assertRaises(GateError) as caught:
            ralph_gate.evaluate_final(wrong, None, Iteration(1, "final"))
        error = caught.exception
        self.assertEqual((error.code, error.path), ("invalid_contract", "contract.loop_max_iters"))
        self.assertEqual(len(error.problems), 2)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((copy.code, str(copy), copy.problems), (error.code, str(error), error.problems))

    def test_what_utf8_cannot_carry_is_replaced(self) -> None:
        verdict = ralph_gate.evaluate_final(TOKEN, None, Iteration(1, "final", output="\ud800 \U0001f600 \udcff"))
        whole = ralph_gate.evaluate_final(TOKEN, None, Iteration(1, "final", output="\ufffd \U0001f600 \ufffd"))
        self.assertEqual(verdict, whole)

    def test_too_large_an_input_is_refused_and_the_next_one_answered(self) -> None:
        with self.assertRaisesRegex(EngineError, "the limit is 33554432"):
            ralph_gate.parse_promises("x" * (32 << 20))
        self.assertEqual(ralph_gate.parse_promises("x" * (2 << 20) + "\n" + DONE).accepted, "COMPLETE")

    def test_values_that_are_no_json_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            ralph_gate.check_contract({"cost_budget_usd": float("nan")})


class Sessions(unittest.TestCase):
    def test_a_session_decides_as_the_function_does(self) -> None:
        session, snapshot = open_session(CHECK), None
        for index in (1, 2):
            iteration = Iteration(index, "final", checks=[CheckResult("tests_green", "fail", reason="2 of 14 failed")])
            self.assertEqual(session.brief(), ralph_gate.write_brief(CHECK, snapshot))
            verdict = session.evaluate_final(iteration)
            self.assertEqual(verdict, ralph_gate.evaluate_final(CHECK, snapshot, iteration))
            snapshot = verdict.snapshot
            self.assertEqual(session.snapshot, snapshot)
        self.assertEqual(verdict.stop_reason, "max_iters")

    def test_a_session_goes_on_from_its_snapshot(self) -> None:
        session = open_session(CHECK)
        self.assertIsNone(session.snapshot)
        session.evaluate_final({"index": 1, "action": "continue"})
        again = open_session(json.dumps(dict(CHECK)), session.snapshot)
        self.assertEqual(again.brief().iteration, 2)

    def test_a_session_that_cannot_be_opened_says_why(self) -> None:
        with self.assertRaises(GateError) as caught:
            open_session({"mode": "ralph"})
        self.assertEqual(caught.exception.code, "invalid_contract")
        with self.assertRaises(GateError) as caught:
            open_session(TOKEN, "not a snapshot")
        self.assertEqual(caught.exception.code, "invalid_snapshot")

    def test_after_an_error_a_session_is_as_before(self) -> None:
        session = open_session(CHECK)
        with self.assertRaises(GateError) as caught:
            session.evaluate_final(Iteration(7, "final"))
        self.assertEqual(caught.exception.code, "iteration_out_of_order")
        self.assertEqual(session.brief().iteration, 1)

    def test_threads_ask_at_the_same_time(self) -> None:
        shared, contract = open_session({**TOKEN, "loop_max_iters": 10000, "no_progress_limit": 0}), dict(TOKEN)
        found: list[Any] = []

        def ask(number: int) -> None:
            for turn in range(50):
                output = f"{number} {turn}"
                own = ralph_gate.take_fingerprint(Iteration(1, "final", output=output))
                same = ralph_gate.evaluate_final(contract, None, Iteration(1, "final", output=output)).fingerprint
                found.append(own.parts[-1].digest == same.parts[-1].digest)
                shared.brief()

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 200)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork on this system")
    def test_a_process_that_was_forked_off_can_ask(self) -> None:
        ralph_gate.parse_promises(DONE)
        child = os.fork()
        if child == 0:
            os._exit(0 if ralph_gate.parse_promises(DONE).accepted == "COMPLETE" else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Absent(unittest.TestCase):
    """What has a default here is what the gate takes where it is absent."""

    def same(self, function: str, full: "dict[str, Any]", absent: "dict[str, Any]") -> None:
        answers = [ralph_gate.call(function, json.dumps(values)) for values in (full, absent)]
        self.assertNotIn('{"error"', answers[0])
        self.assertEqual(*answers)

    def test_of_an_iteration(self) -> None:
        full = Iteration(1, "final", checks=[CheckResult("tests_green", "pass")]).to_json()
        absent = {"index": 1, "action": "final", "checks": [{"id": "tests_green", "outcome": "pass"}]}
        contract = dict(CHECK)
        self.same(
            "evaluate_final", {"contract": contract, "iteration": full}, {"contract": contract, "iteration": absent}
        )
        for field in absent.keys() - {"checks"}:
            with self.assertRaises(GateError):
                ralph_gate.evaluate_final(CHECK, None, {key: absent[key] for key in absent if key != field})

    def test_of_everything_else(self) -> None:
        issue = {"states": {"issues": [{"id": "a", "status": "done"}]}}
        self.same("decide_signal", {"states": IssueStates([Issue("a", "done")]).to_json()}, issue)
        entry = {"entry": {"iteration": 1, "title": "x"}}
        self.same("write_progress", {"entry": ProgressEntry(1, "x").to_json()}, entry)
        snapshot = ralph_gate.evaluate_final(TOKEN, None, Iteration(1, "final", output=DONE)).snapshot
        common = {"contract": dict(TOKEN), "snapshot": snapshot}
        full = {**common, "resumption": Resumption("alice", "why").to_json()}
        self.same("resume", full, {**common, "resumption": {"operator": "alice", "reason": "why"}})
        text = '{"items": [{"id": "a", "passes": false}]}'
        self.same(
            "update_prd",
            {"text": text, "updates": [PrdUpdate("a", True).to_json()]},
            {"text": text, "updates": [{"id": "a", "passes": True}]},
        )
