// The types fit the gate, and a strict compiler accepts a consumer in both module systems.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as gate from "ralph-gate";
import { BUILT, PROJECT, node, scratch } from "./kit.mjs";

const CONSUMER = `
import { GateError, openSession, route, type Contract, type Iteration, type Verdict } from "ralph-gate";

const contract: Contract = { mode: "ralph", completion_token: { text: "COMPLETE", nonce: true }, completion_checks: ["lint", { id: "t", required: false }] };
const session = openSession(contract, { snapshot: null });
const iteration: Iteration = { index: session.brief().iteration, action: "final", output: "", usage: { cost_usd: "0.1" } };
const verdict: Verdict = session.evaluateFinal(iteration);
const snapshot: string | null = verdict.snapshot;
const percent: number = verdict.counters.guardrails[0]!.percent;
const first: string | undefined = verdict.failures[0]?.code;
try { route({ mode: "auto" }, { ralph_enabled: true }); } catch (error) { if (error instanceof GateError) error.problems[0]?.line.toFixed(); }
// @ts-expect-error: there is no such action
session.evaluateFinal({ index: 1, action: "finish" });
// @ts-expect-error: the index is missing
session.evaluateFinal({ action: "final" });
// @ts-expect-error: there is no such field
openSession({ mode: "ralph", loop_max_iter: 3 });
// @ts-expect-error: no such decision
if (verdict.decision === "finished") throw 0;
export { contract, first, percent, snapshot };
`;

for (const [file, system] of [["consumer.mts", "ESM"], ["consumer.cts", "CommonJS"]]) {
  test(`a consumer in ${system} compiles strictly, and its mistakes do not`, (context) => {
    const path = join(scratch(context), file);
    writeFileSync(path, CONSUMER);
    const flags = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2022", "--types", ""];
    try {
      node(join(BUILT, "node_modules/typescript/bin/tsc"), ...flags, "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", path);
    } catch (error) {
      assert.fail(error.stdout);
    }
  });
}

test("every function has a comment where an editor looks for it", () => {
  const text = readFileSync(join(PROJECT, "node_modules/ralph-gate/dist/cjs/index.d.ts"), "utf8");
  const functions = Object.keys(gate).filter((name) => /^[a-z]/.test(name));
  assert.ok(functions.length >= 20);
  for (const name of functions) assert.match(text, new RegExp(`\\*/\\nexport declare const ${name}: `), name);
});

/** Inputs that have every field, by the name of their type: how they are handed over, and where the record is in it. */
const WHOLE = {
  Iteration: ["evaluate_final", (it) => ({ contract: { mode: "ralph", completion_token: "A" }, iteration: it })],
  CheckResult: ["take_fingerprint", (it) => ({ iteration: { checks: [it] } }), { id: "a", outcome: "fail", reason: "r", code: "evidence_tampered", attempts: ["fail"], iteration: 1, fingerprint: "f", failing: 2 }],
  Artifact: ["take_fingerprint", (it) => ({ iteration: { artifacts: [it] } }), { name: "a", kind: "text", content: "" }],
  ToolOutput: ["take_fingerprint", (it) => ({ iteration: { tool_outputs: [it] } }), { name: "a", content: "" }],
  Tampering: ["take_fingerprint", (it) => ({ iteration: { tampered: [it] } }), { what: "a", reason: "b" }],
  Usage: ["take_fingerprint", (it) => ({ iteration: { usage: it } }), { elapsed_ms: 1, tool_calls: 1, cost_usd: "1", tokens: 1 }],
  OperatorNote: ["take_fingerprint", (it) => ({ iteration: { override: it } }), { operator: "a", reason: "b" }],
  PrdUpdate: ["update_prd", (it) => ({ text: '{"items": [{"id": "a", "title": "A", "passes": false}]}', updates: [it] }), { id: "a", passes: true, evidence: "b" }],
  ProgressEntryInput: ["write_progress", (it) => ({ entry: it }), { iteration: 1, title: "a", body: "b" }],
  LoopFileInput: ["write_loop_file", (it) => ({ file: it }), { active: true, iteration: 1, session_id: "a", max_iterations: 1, completion_promise: "A", started_at: "a", prompt: "p" }],
  LoopFileChange: ["update_loop_file", (it) => ({ text: "---\niteration: 1\n---\np", change: it }), { active: true, iteration: 2, session_id: "b" }],
  IssueStates: ["decide_signal", (it) => ({ states: it }), { issues: [], files: [] }],
  Issue: ["decide_signal", (it) => ({ states: { issues: [it] } }), { id: "a", status: "done", needs_human: false, depends_on: [] }],
  IssueFile: ["decide_signal", (it) => ({ states: { files: [it] } }), { path: "a.md", text: "---\nid: a\nstatus: done\n---\n" }],
};
WHOLE.Iteration.push({ index: 1, action: "final", canceled: false, output: "", checks: [], artifacts: [], tool_outputs: [], tampered: [], usage: {}, override: null, waivers: [] });

const TYPES = readFileSync(join(PROJECT, "node_modules/ralph-gate/dist/esm/generated/types.d.ts"), "utf8");

/** The fields of an interface, and whether each may be left out. */
function fields(name) {
  const [, body] = TYPES.match(new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, "ms"));
  return [...body.matchAll(/^ {4}(\w+)(\??):/gm)].map(([, field, mark]) => [field, mark === "?"]);
}

for (const [name, [asked, input, whole]] of Object.entries(WHOLE)) {
  test(`a field of ${name} may be left out where the gate lets it be left out`, () => {
    assert.deepEqual(fields(name).map(([field]) => field), Object.keys(whole));
    const ask = (record) => JSON.parse(gate.call(asked, JSON.stringify(input(record))));
    assert.equal(ask(whole).error, undefined);
    for (const [field, optional] of fields(name)) {
      const { [field]: _, ...rest } = whole;
      assert.equal(ask(rest).error === undefined, optional, field);
    }
  });
}
