// A loop without any framework. The agent is scripted; the check is real: it runs the tests of a small project.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSession } from "ralph-gate";
import { runLoop } from "ralph-gate/loop";

const project = mkdtempSync(join(tmpdir(), "plain-loop-"));
writeFileSync(join(project, "sum.test.mjs"), `
  import assert from "node:assert";
  import { test } from "node:test";
  import { sum } from "./sum.mjs";
  test("sum", () => assert.equal(sum([1, 2, 3]), 6));
`);

/** Put yours here: anything that takes a prompt and gives what it wrote. This one is wrong at first, and sure of itself. */
function agent(prompt, iteration) {
  const body = iteration === 1 ? "numbers.length" : "numbers.reduce((a, b) => a + b, 0)";
  writeFileSync(join(project, "sum.mjs"), `export const sum = (numbers) => ${body};\n`);
  console.log(`--- iteration ${iteration}, told:\n${prompt.trim()}`);
  return "The sum is right now.\n<promise>COMPLETE</promise>";
}

/** The evidence: gathered here, after the turn, where the agent has no say. */
function gather() {
  const options = { cwd: project, stdio: "pipe", env: { ...process.env, NODE_TEST_CONTEXT: undefined } };
  try {
    execFileSync(process.execPath, ["--test"], options);
    return { checks: [{ id: "tests_green", outcome: "pass" }] };
  } catch (error) {
    return { checks: [{ id: "tests_green", outcome: "fail", reason: `node --test ended with ${error.status}` }] };
  }
}

const session = openSession({ mode: "ralph", completion_token: "COMPLETE", completion_checks: ["tests_green"], loop_max_iters: 5 });
const verdict = await runLoop(session, "Write sum.mjs.", agent, gather);
console.log(`--- ${verdict.stop_reason} after ${verdict.counters.iteration} iterations`);
rmSync(project, { recursive: true });
