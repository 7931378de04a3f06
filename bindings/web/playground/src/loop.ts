// A loop through the gate: every iteration in its order, each with the snapshot of the one before.

import { isError, type Answer, type Brief, type ContractReport, type Ruling, type Verdict } from "./answers";
import { ask } from "./gate";
import type { Iteration } from "./model";

/** An iteration as the gate is given it. */
export function given(iteration: Iteration, index: number): object {
  return { index: index + 1, ...iteration };
}

/** Evaluates a loop from its beginning. What can't be evaluated any more has the gate's error. */
export function evaluate(contract: string, iterations: Iteration[]): Answer<Verdict>[] {
  let snapshot: string | null = null;
  return iterations.map((iteration, index) => {
    const answer = ask<Verdict>("evaluate_final", { contract, snapshot, iteration: given(iteration, index) });
    if (!isError(answer)) snapshot = answer.snapshot;
    return answer;
  });
}

/** What the agent is told before an iteration. */
export function brief(contract: string, before: Answer<Verdict> | undefined): Answer<Brief> {
  const snapshot = before && !isError(before) ? before.snapshot : null;
  return ask<Brief>("write_brief", { contract, snapshot });
}

/** What is wrong with a contract. */
export function check(contract: string): ContractReport {
  const report = ask<ContractReport>("check_contract", { text: contract });
  if (!isError(report)) return report;
  return { valid: false, problems: report.error.problems, warnings: [], contract: null, digest: null };
}

/** Whether two rulings send a loop different ways. */
export function differs(one: Ruling | null, other: Ruling | null): boolean {
  return one?.decision !== other?.decision || one?.stop_reason !== other?.stop_reason || one?.detail !== other?.detail;
}
