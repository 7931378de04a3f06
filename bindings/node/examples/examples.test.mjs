// The examples run, against the real packages, and compile against their real types.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { openSession } from "ralph-gate";
import { stopHook } from "ralph-gate/claude-agent-sdk";
import { runLoop } from "ralph-gate/loop";

const run = (...args) => {
  try {
    return execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_TEST_CONTEXT: "" } });
  } catch (error) {
    assert.fail(`${error.stdout}${error.stderr}`);
  }
};
const contract = { mode: "ralph", completion_token: "COMPLETE", completion_checks: ["tests_green"], loop_max_iters: 5 };
const pass = { checks: [{ id: "tests_green", outcome: "pass" }] };
const stop = (text, more = {}) => ({ hook_event_name: "Stop", stop_hook_active: false, session_id: "s", transcript_path: "t", cwd: "/", last_assistant_message: text, background_tasks: [], ...more });
const DONE = "Done.\n<promise>COMPLETE</promise>";

test("the plain loop refuses once and completes", () => {
  const printed = run("plain-loop.mjs");
  assert.match(printed, /iteration 2, told:\n.*node --test ended with 1/s);
  assert.match(printed, /--- completed after 2 iterations\n$/);
});

test("in the AI SDK the gate answers the tool and ends the run", () => {
  const lines = run("ai-sdk.mjs").trim().split("\n");
  assert.equal(lines.length, 3);
  assert.equal(lines.at(-1), "completed after 2 calls");
  assert.equal(lines[1], "done was answered: The loop is over.");
});

test("the examples compile strictly against the types of what they are for", () => {
  const tsc = join(process.env.RALPH_GATE_BUILT, "node_modules/typescript/bin/tsc");
  const types = ["--typeRoots", join(process.env.RALPH_GATE_BUILT, "node_modules/@types"), "--types", "node"];
  const flags = ["--strict", "--noEmit", "--skipLibCheck", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];
  run(tsc, ...flags, ...types, "claude-agent-sdk.ts");
  run(tsc, ...flags, ...types, "--noImplicitAny", "false", "--allowJs", "--checkJs", "ai-sdk.mjs");
});

test("a Stop callback blocks with the feedback, and lets go of what is complete", async () => {
  const verdicts = [];
  const hook = stopHook(openSession(contract), () => pass, (verdict) => verdicts.push(verdict));
  const refused = await hook(stop("I think so."));
  assert.equal(refused.decision, "block");
  assert.equal(refused.reason, verdicts[0].feedback);
  assert.deepEqual(await hook(stop(DONE)), {});
  assert.equal(verdicts[1].stop_reason, "completed");
  // The loop is over: nothing is left to judge, and the person hears of it.
  assert.match((await hook(stop(DONE))).systemMessage, /lets the agent stop/);
});

test("a Stop callback does not judge other events or a pause, and never throws", async () => {
  const session = openSession(contract);
  const hook = stopHook(session, () => { throw new Error("no disk"); });
  assert.deepEqual(await hook({ hook_event_name: "SubagentStop" }), {});
  assert.deepEqual(await hook(stop(DONE, { background_tasks: [{}] })), {});
  assert.equal(session.brief().iteration, 1);
  const blocked = await hook(stop(DONE));
  assert.equal(blocked.decision, "block");
  assert.match(blocked.reason, /no disk/);
});

test("an agent that throws is an iteration that failed, and the contract ends the loop", async () => {
  const session = openSession({ ...contract, max_consecutive_failures: 2 });
  const verdict = await runLoop(session, "task", () => { throw new Error("no model"); }, () => pass);
  assert.deepEqual([verdict.stop_reason, verdict.detail, verdict.counters.iteration], ["blocked", "max_consecutive_failures", 2]);
});
