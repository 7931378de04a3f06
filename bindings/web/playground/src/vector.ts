// A loop as a test vector: the format of tests/vectors, which every host of the gate runs.

import { isError, type Answer, type Verdict } from "./answers";
import { evaluate, given } from "./loop";
import { EMPTY_ITERATION, type Iteration } from "./model";

/** The vector's file. `rule` says in words what it proves. */
export function vector(rule: string, contract: string, iterations: Iteration[]): string {
  const answers = evaluate(contract, iterations);
  // The first error is the last that can be said: it leaves no snapshot behind.
  const error = answers.findIndex(isError);
  const calls = answers.slice(0, error < 0 ? answers.length : error + 1).map((output, index) => {
    const before = answers[index - 1];
    const snapshot = before && !isError(before) && before.snapshot !== null ? "$previous" : null;
    const input = { contract, snapshot, iteration: given(iterations[index] ?? EMPTY_ITERATION, index) };
    return { function: "evaluate_final", input, expect: expectation(output), output };
  });
  return JSON.stringify({ rule, calls }, null, 2) + "\n";
}

/** The part of an answer that a rule is about. */
function expectation(answer: Answer<Verdict>): object {
  if (isError(answer)) return { error: { code: answer.error.code } };
  const { decision, stop_reason, detail, signal } = answer;
  const failures = answer.failures.map(({ code, check }) => ({ code, check }));
  return { decision, stop_reason, detail, signal, failures };
}
