// The face hands over what it is given, and gives back what the gate says.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as gate from "ralph-gate";
import { vectors } from "./kit.mjs";

const contract = { mode: "ralph", completion_token: "COMPLETE", completion_checks: ["tests_green"], loop_max_iters: 5 };
const pass = { id: "tests_green", outcome: "pass" };
const done = (index, more = {}) => ({ index, action: "final", output: "Done.\n<promise>COMPLETE</promise>", checks: [pass], ...more });

test("a session refuses, explains and releases", () => {
  const session = gate.openSession(contract);
  assert.equal(session.snapshot(), null);
  const refused = session.evaluateFinal(done(1, { checks: [{ id: "tests_green", outcome: "fail", reason: "2 of 14" }] }));
  assert.equal(refused.decision, "continue");
  assert.deepEqual(refused.failures, [{ code: "check_failed", check: "tests_green", reason: "2 of 14" }]);
  assert.equal(session.brief().iteration, 2);
  const again = gate.openSession(contract, { snapshot: session.snapshot() });
  for (const it of [session, again]) assert.equal(it.evaluateFinal(done(2)).stop_reason, "completed");
});

test("a verdict of records is the verdict of the JSON face, byte for byte, for every vector", () => {
  let compared = 0;
  for (const { name, calls } of vectors()) {
    let previous;
    for (const { function: asked, input } of calls) {
      if (!input) continue;
      const snapshot = input.snapshot === "$previous" ? previous : input.snapshot;
      const answer = gate.call(asked, JSON.stringify({ ...input, snapshot }));
      const expected = JSON.parse(answer);
      previous = expected.snapshot;
      const { contract, snapshot: _, iteration, ...unknown } = input;
      if (asked !== "evaluate_final" || !contract || !iteration || Object.keys(unknown).length > 0) continue;
      let got;
      try {
        got = JSON.stringify(gate.openSession(contract, { snapshot }).evaluateFinal(iteration));
      } catch (error) {
        assert.ok(error instanceof gate.GateError, `${name}: ${error.stack}`);
        assert.equal(error.code, expected.error?.code, name);
        continue;
      }
      assert.equal(got, answer, name);
      compared += 1;
    }
  }
  assert.ok(compared > 200, `only ${compared} were compared`);
});

test("an error says what, where and what to do, and leaves the session as it was", () => {
  const session = gate.openSession(contract);
  const wrong = [
    [{ index: 1, acton: "final" }, "invalid_input", "acton"],
    [done(1, { index: "1" }), "invalid_input", "index"],
    [done(1, { index: 1.5 }), "invalid_input", "index"],
    [done(1, { index: 2 ** 32 + 1 }), "invalid_input", "index"],
    [done(1, { action: "finish" }), "invalid_input", "action"],
    [done(1, { action: "constructor" }), "invalid_input", "action"],
    [done(1, { checks: [{ id: "tests_green" }] }), "invalid_input", "checks[0].outcome"],
    [done(1, { output: 7 }), "invalid_input", "output"],
    [done(3), "iteration_out_of_order", null],
    [null, "invalid_input", ""],
  ];
  for (const [iteration, code, path] of wrong) {
    assert.throws(() => session.evaluateFinal(iteration), (error) => {
      assert.ok(error instanceof gate.GateError && error instanceof Error);
      assert.equal(error.name, "GateError");
      assert.equal(error.code, code, error.message);
      if (path !== null) assert.ok(error.problems.some((problem) => problem.path === path), JSON.stringify(error.problems));
      assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(error))), ["code", "message", "path", "problems"]);
      return true;
    });
  }
  assert.equal(session.evaluateFinal(done(1)).decision, "stop");
});

test("what is absent, null or undefined is empty, and other objects count like their JSON", () => {
  const bare = gate.openSession(contract).evaluateFinal({ index: 1, action: "final" });
  const empty = { canceled: null, output: undefined, checks: null, artifacts: [], tool_outputs: undefined, usage: null, override: null };
  const class_ = new (class { index = 1; action = "final"; })();
  for (const iteration of [{ index: 1, action: "final", ...empty }, class_, { toJSON: () => ({ index: 1, action: "final" }) }]) {
    assert.deepEqual(gate.openSession(contract).evaluateFinal(iteration), bare);
  }
});

test("half of a surrogate pair becomes the replacement character on every way", () => {
  const cut = "😀".slice(0, 1);
  const whole = (it) => JSON.stringify(it.promise);
  const typed = gate.openSession(contract).evaluateFinal(done(1, { output: `<promise>${cut}</promise>` }));
  const json = gate.evaluateFinal(contract, done(1, { output: `<promise>${cut}</promise>` }));
  assert.equal(whole(typed), whole(json));
  assert.equal(typed.promise.accepted, "\ufffd");
  assert.equal(gate.parsePromises(`<promise>${cut}\\ud800 \\\\ud800</promise>`).accepted, "\ufffd\\ud800 \\\\ud800");
  assert.equal(gate.parsePromises("<promise>😀 é</promise>").accepted, "😀 é");
});

test("every function of the JSON face has a method", () => {
  const { error } = JSON.parse(gate.call("no such function at all", "{}"));
  const names = error.message.match(/[a-z]+_[a-z_]+|resume|route/g);
  assert.ok(names.length >= 16, error.message);
  for (const name of names) {
    const method = name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
    assert.equal(typeof gate[method], "function", method);
  }
});

test("the stateless functions answer", () => {
  assert.equal(gate.checkContract("mode: ralph\ncompletion_token: DONE\n").valid, true);
  assert.equal(gate.checkContract("{}", "json").valid, true);
  assert.equal(gate.route(contract).mode, "ralph");
  assert.equal(gate.route(contract, { ralph_enabled: false }).reason, "disabled");
  assert.equal(gate.parsePromises("<promise>A</promise> B", "lenient").accepted, "A");
  assert.equal(gate.takeFingerprint({ artifacts: [{ name: "a", kind: "json", content: "{}" }] }).counted, true);
  assert.equal(gate.decideSignal({ issues: [{ id: "a", status: "proposed" }] }).signal, "LOOP_CONTINUE");
  const { snapshot } = gate.evaluateFinal(contract, done(1));
  assert.equal(gate.readSnapshot(snapshot).stopped, "completed");
  const resumed = gate.resume(contract, snapshot, { operator: "ada", reason: "more to do" });
  assert.equal(gate.readSnapshot(resumed).stopped, null);
  assert.equal(gate.writeBrief(contract, { snapshot: resumed }).iteration, 2);
  const prd = '{"items": [{"id": "a", "title": "A", "passes": false}]}';
  assert.equal(gate.readPrd(gate.updatePrd(prd, [{ id: "a", passes: true }])).passed, 1);
  const entry = { iteration: 1, title: "parser", body: "It works." };
  assert.deepEqual(gate.readProgress(gate.writeProgress(entry)).entries, [entry]);
  const file = gate.updateLoopFile(gate.writeLoopFile({ prompt: "Do it.", max_iterations: 7 }), { iteration: 3 });
  assert.deepEqual([gate.readLoopFile(file).iteration, gate.readLoopFile(file).prompt], [3, "\nDo it.\n"]);
  assert.throws(() => gate.readPrd("no"), { code: "invalid_file" });
});

test("a session that is closed answers no more, and the next one does", () => {
  const session = gate.openSession(contract);
  session.close();
  assert.throws(() => session.evaluateFinal(done(1)), /Not a valid "Session"/);
  assert.throws(() => session.evaluateFinalText("{}"), /Not a valid "Session"/);
  assert.equal(gate.openSession(contract).evaluateFinal(done(1)).decision, "stop");
});

test("the gate says which one it is", () => {
  assert.match(gate.digest(), /^[0-9a-f]{64}$/);
  assert.equal(gate.digest(), process.env.RALPH_GATE_DIGEST);
  assert.equal(gate.version(), "0.1.0");
});
