// For the Claude Agent SDK: a `Stop` callback that asks the gate in the same process.

import type { Verdict } from "./face/index.js";
import { type Gather, type Judge, judgeFinal } from "./loop.js";

/** What is read of the event, in the SDK's own names. */
interface StopEvent {
  hook_event_name: string;
  last_assistant_message?: string;
  background_tasks?: readonly unknown[];
}

/** What is answered: nothing, which lets the agent stop, or a block with the text for its next turn. */
interface StopAnswer {
  decision?: "block";
  reason?: string;
  systemMessage?: string;
}

/** A hook that fits the SDK's `HookCallback`. */
export type StopHook = (event: StopEvent) => Promise<StopAnswer>;

/**
 * A callback for `hooks: { Stop: [{ hooks: [stopHook(…)] }] }`.
 *
 * The client takes an exception for leave to stop, so there is none: evidence that can't be gathered is missing
 * evidence, which the gate refuses, and a loop that can't be judged at all lets the agent stop and tells the person.
 * Work in the background means paused, not finished, and is not judged.
 */
export function stopHook(judge: Judge, gather: Gather, told: (verdict: Verdict) => void = () => {}): StopHook {
  return async (event) => {
    if (event.hook_event_name !== "Stop" || event.background_tasks?.length) return {};
    let trouble = "";
    const safely: Gather = async (output) => {
      try {
        return await gather(output);
      } catch (error) {
        trouble = `\nThe checks could not be run: ${String(error)}`;
        return {};
      }
    };
    try {
      const verdict = await judgeFinal(judge, event.last_assistant_message ?? "", safely);
      told(verdict);
      return verdict.decision === "continue" ? { decision: "block", reason: verdict.feedback + trouble } : {};
    } catch (error) {
      return { systemMessage: `ralph-gate could not judge this turn, and lets the agent stop: ${String(error)}` };
    }
  };
}
