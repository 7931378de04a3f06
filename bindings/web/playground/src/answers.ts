// What the gate answers, in its JSON form: the types of the package for browsers, and an answer that may be an error.

import type { ErrorCode, Problem, Verdict } from "ralph-gate-web";

export type { Brief, ContractReport, Need, Problem, PromiseTag, Verdict } from "ralph-gate-web";

/** Why there is no answer, as data. */
export interface GateError {
  code: ErrorCode;
  message: string;
  path: string | null;
  problems: Problem[];
}

/** An answer, or why there is none. */
export type Answer<T> = T | { error: GateError };

/** The part of a verdict that says where the loop goes. */
export type Ruling = Pick<Verdict, "decision" | "stop_reason" | "detail" | "signal"> & { overridden?: boolean };

export function isError<T extends object>(answer: Answer<T>): answer is { error: GateError } {
  return "error" in answer;
}
