// Logs: the same answers as the command gives, and mistakes as exceptions.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HistoryError, readLog, replay, whatIf } from "ralph-gate/history";
import { ROOT, node, run, scratch } from "./kit.mjs";

const path = join(ROOT, "host/history/testdata/events.jsonl");
const log = readFileSync(path, "utf8");
const STRICTER = { mode: "ralph", completion_checks: ["work"], loop_max_iters: 2 };

test("a log is replayed with the same bytes", () => {
  const { same, equal, different, not_replayed, breaks } = replay(log);
  assert.deepEqual({ same, different, not_replayed, breaks }, { same: true, different: 0, not_replayed: 0, breaks: [] });
  assert.equal(equal, readLog(log).iterations.length);
  assert.ok(equal > 2);
});

test("a verdict that is not the gate's is found, and where it is another one", () => {
  const forged = replay(log.replace('"intercepted":true', '"intercepted":false'));
  assert.equal(forged.same, false);
  assert.equal(forged.first_difference.path, "intercepted");
  assert.deepEqual(forged.breaks.map(({ kind }) => kind), ["edited"]);
});

test("under another contract the loop ends earlier", () => {
  for (const contract of [STRICTER, JSON.stringify(STRICTER), "mode: ralph\ncompletion_checks: [work]\nloop_max_iters: 2\n"]) {
    const { other, changed } = whatIf(log, contract);
    assert.deepEqual([other.decided.stop_reason, other.iteration, changed[0]], ["max_iters", 2, 2]);
  }
});

test("what can't be used is thrown, with all that is wrong", () => {
  assert.throws(() => replay("no log"), (error) => error instanceof HistoryError && error.code === "invalid_log");
  assert.throws(() => whatIf(log, { mode: "ralph", completion_token: "A", loop_max_iter: 1 }), (error) => {
    return error instanceof HistoryError && error.code === "invalid_contract" && error.problems[0].path === "loop_max_iter";
  });
});

test("CommonJS has it, too", (context) => {
  const file = join(scratch(context), "it.cjs");
  writeFileSync(file, `console.log(require("ralph-gate/history").replay(require("node:fs").readFileSync(${JSON.stringify(path)}, "utf8")).same);`);
  assert.equal(node(file), "true\n");
});

test("nothing of it is loaded with the rest of the package", (context) => {
  const file = join(scratch(context), "it.cjs");
  writeFileSync(file, `require("ralph-gate"); console.log(Object.keys(require.cache).filter((name) => name.endsWith("dist/history.cjs")));`);
  assert.equal(node(file), "[]\n");
});

const { RALPH_GATE_BINARY: binary } = process.env;
if (binary) {
  test("the command says the same", (context) => {
    const contract = join(scratch(context), "contract.json");
    writeFileSync(contract, JSON.stringify(STRICTER));
    const said = (...args) => {
      const { log: _, ...report } = JSON.parse(run(binary, [...args, "--json", path])).logs[0];
      return report;
    };
    assert.deepEqual(replay(log), said("replay"));
    assert.deepEqual(whatIf(log, STRICTER), said("what-if", "--contract", contract));
  });
}
