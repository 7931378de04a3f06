// The Claude Agent SDK: an in-process `Stop` callback asks the gate, and the agent goes on until it may stop.

import { execFileSync } from "node:child_process";
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";
import { openSession } from "ralph-gate";
import { stopHook } from "ralph-gate/claude-agent-sdk";
import type { Evidence } from "ralph-gate/loop";

const session = openSession({ mode: "ralph", completion_token: "COMPLETE", completion_checks: ["tests_green"], loop_max_iters: 20 });

/** Runs the project's tests: evidence that the agent did not write. */
function gather(): Evidence {
  try {
    execFileSync("npm", ["test"], { stdio: "pipe" });
    return { checks: [{ id: "tests_green", outcome: "pass" }] };
  } catch (error) {
    return { checks: [{ id: "tests_green", outcome: "fail", reason: String(error) }] };
  }
}

const options: Options = {
  hooks: { Stop: [{ hooks: [stopHook(session, gather, (verdict) => console.error(verdict.decision, verdict.stop_reason))] }] },
  // The client ends a turn after eight blocks in a row unless it is told otherwise; the gate has a bound of its own.
  env: { ...process.env, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" },
};

for await (const message of query({ prompt: `Make the tests pass.\n\n${session.brief().text}`, options })) {
  if (message.type === "result") console.log(message.subtype);
}
