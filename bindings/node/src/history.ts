// Event logs of loops: what happened, whether the gate still answers as it did, and what it would have answered under
// another contract. The host's own code, compiled to WebAssembly, with the gate of this package. There are no files in
// here: a log is the text of an `events.jsonl`.

import embedded from "../history.cjs";
import { call } from "./index.js";
import type { Answer, LogReport, ReplayReport, WhatIfReport, HistoryError as HistoryErrorData } from "./reports.js";

export type {
  Decided,
  Difference,
  Json,
  LogBreak,
  LogEvent,
  LogReport,
  LoopStart,
  RecordedIteration,
  ReplayedIteration,
  ReplayReport,
  Standing,
  Totals,
  WhatIfIteration,
  WhatIfReport,
} from "./reports.js";

/** A log or a contract that can't be used: what is wrong, where, and what to do about it. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
  /** For machines: `invalid_log`, `no_contract`, `wrong_contract`, or a code of the gate such as `invalid_contract`. */
  readonly code: string;
  /** Where the first problem is, where there is one. */
  readonly path: string | null;
  /** Every problem that was found in a contract. */
  readonly problems: HistoryErrorData["problems"];

  constructor(error: HistoryErrorData) {
    super(error.message);
    this.code = error.code;
    this.path = error.path;
    this.problems = error.problems;
  }
}

/**
 * Everything that a log says. What is damaged in it is named in `breaks`.
 *
 * @param log the text of an `events.jsonl`
 * @throws HistoryError if no line of it is an event
 */
export function readLog(log: string): LogReport {
  return answered(embedded.readLog(log));
}

/**
 * Evaluates every iteration of a log again, and compares the answers byte for byte.
 *
 * @param log the text of an `events.jsonl`
 * @param options.contract the session's `contract.json`, for logs that do not carry their contract
 * @throws HistoryError
 */
export function replay(log: string, { contract }: { contract?: string | undefined } = {}): ReplayReport {
  return answered(embedded.replay(log, call, contract));
}

/**
 * Replays a log under another contract: which decisions change, when the loop would have ended, and what that saves.
 *
 * @param log the text of an `events.jsonl`
 * @param contract an object, or a text in JSON, YAML or TOML
 * @throws HistoryError
 */
export function whatIf(log: string, contract: string | object): WhatIfReport {
  const text = typeof contract === "string" ? contract : JSON.stringify(contract);
  return answered(embedded.whatIf(log, text, call));
}

function answered<T extends object>(text: string): T {
  const answer: Answer<T> = JSON.parse(text);
  if ("error" in answer) throw new HistoryError(answer.error as HistoryErrorData);
  return answer;
}
