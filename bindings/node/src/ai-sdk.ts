// For the Vercel AI SDK: a tool with which the agent says that it is done, and a condition that believes only the gate.

import { jsonSchema, tool, type Tool } from "ai";
import type { Verdict } from "./face/index.js";
import { type Gather, type Judge, judgeFinal } from "./loop.js";

/** What to hand to `generateText`, `streamText` or an agent. */
export interface GatedDone {
  /** Add it to `tools` as `done`, and set `toolChoice: "required"`: a turn without a tool would end the run unasked. */
  done: Tool<{ output: string }, string>;
  /** Goes to `stopWhen`: true once the gate has ended the loop. */
  stopWhen: () => boolean;
  /** What the agent has to know: goes into the instructions. */
  instructions: () => string;
  /** The last verdict; none before the agent has called `done`. */
  verdict: () => Verdict | undefined;
}

/** The SDK can't be kept from finishing a turn without tools, so the agent finishes by calling one that asks the gate. */
export function gatedDone(judge: Judge, gather: Gather): GatedDone {
  let last: Verdict | undefined;
  const done = tool({
    description: "Call this when you believe that the task is done. It answers whether you may stop, and if not, what is missing.",
    inputSchema: jsonSchema<{ output: string }>({
      type: "object",
      properties: { output: { type: "string", description: "Your final words, with the promise if one is asked for." } },
      required: ["output"],
      additionalProperties: false,
    }),
    execute: async ({ output }: { output: string }): Promise<string> => {
      last = await judgeFinal(judge, output, gather);
      return last.decision === "continue" ? last.feedback : "The loop is over.";
    },
  });
  return {
    done,
    stopWhen: () => last !== undefined && last.decision !== "continue",
    instructions: () => `${judge.brief().text}\nFinish by calling the tool \`done\`.`,
    verdict: () => last,
  };
}
