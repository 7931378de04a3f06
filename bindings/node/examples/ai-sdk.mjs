// The Vercel AI SDK: the agent may end its run only through the gate. The model is scripted, so that this runs offline.

import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { openSession } from "ralph-gate";
import { gatedDone } from "ralph-gate/ai-sdk";

const session = openSession({ mode: "ralph", completion_checks: ["tests_green"], loop_max_iters: 5 });

let runs = 0;
/**
 * Your checks. Here they pass the second time.
 * @type {import("ralph-gate/loop").Gather}
 */
const gather = () => ({
  checks: [++runs < 2 ? { id: "tests_green", outcome: "fail", reason: "2 of 14 failed" } : { id: "tests_green", outcome: "pass" }],
});

/** Says that it is done, again and again. */
const model = new MockLanguageModelV3({
  doGenerate: async () => ({
    content: [{ type: "tool-call", toolCallId: crypto.randomUUID(), toolName: "done", input: JSON.stringify({ output: "Done." }) }],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  }),
});

const { done, stopWhen, instructions, verdict } = gatedDone(session, gather);
const { steps } = await generateText({
  model,
  system: instructions(),
  prompt: "Make the tests pass.",
  tools: { done },
  toolChoice: "required",
  stopWhen: [stopWhen, stepCountIs(20)],
});

for (const step of steps) console.log("done was answered:", String(step.toolResults[0]?.output).split("\n")[0]);
console.log(verdict()?.stop_reason, "after", steps.length, "calls");
