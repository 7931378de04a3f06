// What the gate answers, as types: the JSON form of wit/gate.wit, as far as the page shows it.

export interface Problem {
  path: string;
  line: number;
  column: number;
  message: string;
  help: string | null;
}

export interface GateError {
  code: string;
  message: string;
  path: string | null;
  problems: Problem[];
}

/** An answer, or why there is none. */
export type Answer<T> = T | { error: GateError };

export interface ContractReport {
  valid: boolean;
  problems: Problem[];
  warnings: Problem[];
  contract: string | null;
  digest: string | null;
}

export interface Failure {
  code: string;
  check: string | null;
  reason: string;
}

export interface Need {
  kind: string;
  check: string | null;
  checks: string[];
  count: number;
  text: string | null;
}

export interface PromiseTag {
  /** In bytes. */
  offset: number;
  /** In bytes. */
  length: number;
  text: string;
  status: string;
  reason: string;
}

export interface PromiseReport {
  accepted: string | null;
  signal: string | null;
  conflict: boolean;
  found: number;
  tags: PromiseTag[];
  context: { key: string; kind: string; value: string }[];
  context_warning: string | null;
}

export interface Fingerprint {
  digest: string;
  state: string | null;
  counted: boolean;
  parts: { name: string; digest: string; unchanged_for: number; note: string | null }[];
  equal_in_a_row: number;
  diagnosis: string;
}

export interface Guardrail {
  name: string;
  used: string;
  limit: string;
  percent: number;
}

/** The part of a verdict that says where the loop goes. */
export interface Ruling {
  decision: string;
  stop_reason: string | null;
  detail: string | null;
  signal: string | null;
  overridden?: boolean;
}

export interface Verdict extends Ruling {
  intercepted: boolean;
  overridden: boolean;
  failures: Failure[];
  needs: Need[];
  feedback: string;
  promise: PromiseReport;
  fingerprint: Fingerprint;
  counters: { iteration: number; guardrails: Guardrail[] };
  snapshot: string | null;
  mode: string;
  profile: string | null;
  shadow: Ruling | null;
  checks: { id: string; required: boolean; passed: boolean; flaky: boolean; code: string | null }[];
  unused_checks: string[];
}

export interface Brief {
  iteration: number;
  token: string | null;
  text: string;
}

export function isError<T extends object>(answer: Answer<T>): answer is { error: GateError } {
  return "error" in answer;
}
