// A plain loop: agent, evidence, gate, and again. Also what every integration has in common.

import type { Brief, Iteration, Verdict } from "./face/index.js";

/** Whatever judges: a session, or a memory that saves what it judges. */
export interface Judge {
  brief(): Brief;
  evaluateFinal(iteration: Iteration): Verdict;
}

/** What the host knows of an iteration beside what the agent wrote: checks that it ran, artifacts, usage. */
export type Evidence = Omit<Iteration, "index" | "action" | "output">;

/** Gathers evidence after a turn of the agent. Run the checks here, where the agent has no say. */
export type Gather = (output: string) => Evidence | Promise<Evidence>;

/** One turn of an agent: what it is told, and which iteration this is. Gives what it wrote. */
export type Agent = (prompt: string, iteration: number) => string | Promise<string>;

/**
 * Runs the agent until the gate ends the loop, and gives the last verdict.
 *
 * The first prompt is the task and the gate's brief, each further one the gate's feedback. An agent that throws is an
 * iteration that failed; the contract says how many of them end the loop.
 *
 * @throws GateError
 */
export async function runLoop(judge: Judge, task: string, agent: Agent, gather: Gather): Promise<Verdict> {
  let prompt = `${task}\n\n${judge.brief().text}`;
  for (;;) {
    const verdict = await turn(judge, prompt, agent, gather);
    if (verdict.decision !== "continue") return verdict;
    prompt = verdict.feedback;
  }
}

async function turn(judge: Judge, prompt: string, agent: Agent, gather: Gather): Promise<Verdict> {
  const { iteration: index } = judge.brief();
  const start = performance.now();
  let output: string;
  try {
    output = await agent(prompt, index);
  } catch (error) {
    return judge.evaluateFinal({ index, action: "error", output: String(error), usage: since(start) });
  }
  return judgeFinal(judge, output, gather, start);
}

/** Gathers evidence for what the agent calls its last word, and judges it. */
export async function judgeFinal(judge: Judge, output: string, gather: Gather, start?: number): Promise<Verdict> {
  const { iteration: index } = judge.brief();
  const { usage, ...evidence } = await gather(output);
  return judge.evaluateFinal({ index, action: "final", output, ...evidence, usage: { ...(start === undefined ? {} : since(start)), ...usage } });
}

const since = (start: number) => ({ elapsed_ms: Math.round(performance.now() - start) });
