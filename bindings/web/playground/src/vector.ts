// A loop as a test vector: the format of tests/vectors, which every host of the gate runs.

import { isError, type Answer, type Verdict } from "./answers";
import { given } from "./loop";
import type { Iteration } from "./model";

/** The vector's file. `rule` says in words what it proves. */
export function vector(rule: string, contract: string, iterations: Iteration[], answers: Answer<Verdict>[]): string {
  const calls = iterations.map((iteration, index) => {
    const output = answers[index];
    const before = answers[index - 1];
    const snapshot = before && !isError(before) && before.snapshot !== null ? "$previous" : null;
    const input = { contract, snapshot, iteration: given(iteration, index) };
    return { function: "evaluate_final", input, expect: expectation(output), output };
  });
  return JSON.stringify({ rule, calls }, null, 2) + "\n";
}

/** The part of an answer that a rule is about. */
function expectation(answer: Answer<Verdict> | undefined): object {
  if (!answer) return {};
  if (isError(answer)) return { error: { code: answer.error.code } };
  const { decision, stop_reason, detail, signal } = answer;
  const failures = answer.failures.map(({ code, check }) => ({ code, check }));
  return { decision, stop_reason, detail, signal, failures };
}
