// What can be said about event logs, as types: the JSON of the crate `ralph-gate-page`.

/** The gate's JSON face: a function's name and its input as JSON, the answer as JSON. */
export type Gate = (name: string, input: string) => string;

/** A report, or why there is none. The same shape as an error of the gate. */
export type Answer<T> = T | { error: HistoryError };

export interface HistoryError {
  /**
   * `invalid_log`: no line of it is an event. `no_contract`: the log does not carry the contract that it was judged by, and
   * none was given. `wrong_contract`: the one that was given is not the one that it was judged by. Every other code is the
   * gate's own, for example `invalid_contract`, whose `problems` have line and column.
   */
  code: string;
  message: string;
  path: string | null;
  problems: { path: string; line: number; column: number; message: string; help: string | null }[];
}

/** Values of the gate, exactly as they stand in the log. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

// ------------------------------------------------------------------------------------------------ read_log

export interface LogReport {
  /** Lines of the text. */
  lines: number;
  /** Every line that is an event, in the order of the text. */
  events: LogEvent[];
  /** Where the log is not what was written. Empty: the chain is whole from the first line to the last. */
  breaks: LogBreak[];
  /** What `loop_started` says. Null where the log lost its beginning. */
  loop: LoopStart | null;
  /** Every iteration that was judged. */
  iterations: RecordedIteration[];
  /** How the loop stands at the end of the log. Null: nothing was judged. */
  end: Standing | null;
}

export interface LogEvent {
  /** Counted from 1. */
  line: number;
  seq: number;
  /** `loop_started`, `baseline`, `agent_ended`, `evidence`, `tripwire`, `verdict`, `loop_resumed`, `client_stopped`, … */
  event: string;
  /** What the loop ran under when the line was written. Older logs lack it. */
  run?: RunRecord;
  data: Json;
}

/** What a loop runs under, and which gate judges it. */
export interface RunRecord {
  mode: "standard" | "ralph";
  profile: string | null;
  enforcement: "enforce" | "shadow";
  /** The BLAKE3 digest of the gate's component, if whoever wrote the line knew it. */
  gate: string | null;
}

export interface LogBreak {
  /** Counted from 1. */
  line: number;
  kind: "edited" | "removed" | "reordered" | "unreadable";
  /** One sentence for a person. */
  message: string;
}

export interface LoopStart {
  line: number;
  /** The version of the host. */
  version: string | null;
  /** Milliseconds since 1970. */
  at_ms: number | null;
  /** The session's key. Null in logs of older versions. */
  session: string | null;
  mode: string | null;
  profile: string | null;
  enforcement: string | null;
  task_class: string | null;
  /** What the loop is marked with. */
  labels: Record<string, string>;
  /** The contract that the loop began with, in its canonical JSON form. Null where the log does not carry it. */
  contract: string | null;
  contract_digest: string | null;
  argv: string[];
  prompt: string | null;
}

export interface RecordedIteration {
  /** The line of its `verdict`. */
  line: number;
  at_ms: number | null;
  index: number;
  /** Exactly what the gate was given … */
  given: {
    /** Null where the log does not carry it. */
    contract: string | null;
    /** Before a resumption, if there was one. */
    snapshot: string | null;
    /** Somebody went on with the loop before this iteration: `resume` makes the snapshot that the gate was given. */
    resumption: { operator: string; reason: string; accept_contract: boolean } | null;
    iteration: Json;
  };
  /** … and what it answered. */
  verdict: Json;
  decided: Decided;
  /** Why it can't be evaluated again, where the log holds digests in place of what the gate was given. */
  not_replayable?: string;
}

/** The part of a verdict that a loop obeys. */
export interface Decided {
  decision: string;
  stop_reason: string | null;
  detail: string | null;
  signal: string | null;
  /** The agent said final and was not let go. */
  intercepted: boolean;
  /** What stands in the way: `tests_green: check_failed`, `token_missing`. */
  failures: string[];
  /** Up to and with this iteration. */
  totals: Totals;
}

export interface Totals {
  iterations: number;
  elapsed_ms: number;
  tool_calls: number;
  tokens: number;
  /** An exact decimal. */
  cost_usd: string;
}

/** How a loop stands after its last iteration. */
export interface Standing {
  /** False: the gate said continue, and nothing more is known. */
  ended: boolean;
  iteration: number;
  decided: Decided;
}

// ------------------------------------------------------------------------------------------------ replay

export interface ReplayReport {
  /** Every iteration was evaluated again and answered with the same bytes. */
  same: boolean;
  equal: number;
  different: number;
  /** Iterations that could not be evaluated again, for example because the contract is not known. */
  not_replayed: number;
  first_difference: Difference | null;
  iterations: ReplayedIteration[];
  breaks: LogBreak[];
}

export interface ReplayedIteration {
  index: number;
  line: number;
  outcome: "equal" | "different" | "not_replayed";
  difference: Difference | null;
  /** Why it was not replayed. */
  problem: string | null;
}

export interface Difference {
  iteration: number;
  line: number;
  /** Where in the verdict: `counters.guardrails[2].used`. Empty: the whole. */
  path: string;
  /** JSON; null where there is nothing at that path. */
  recorded: string | null;
  replayed: string | null;
}

// ------------------------------------------------------------------------------------------------ what_if

export interface WhatIfReport {
  /** The digest of the other contract. */
  contract_digest: string;
  /** The digest of the contract that the loop began with, where it is known. */
  recorded_digest: string | null;
  /** How it ended. */
  recorded: Standing;
  /** How it would have ended, as far as that is known. */
  other: Standing;
  /** Indices of the iterations whose decision, stop reason or detail changes. */
  changed: number[];
  iterations: WhatIfIteration[];
  /** What the other contract would not have spent: set when it ends the loop earlier. */
  saved: Totals | null;
  /** Set when the other contract goes on where the log has nothing more to say. */
  unknown: { after: number; message: string } | null;
  /** What to keep in mind with this answer, a sentence each. Never empty: the agent might have acted otherwise. */
  notes: string[];
  breaks: LogBreak[];
}

export interface WhatIfIteration {
  index: number;
  line: number;
  recorded: Decided;
  /** Null where there is none: see `state`. */
  other: Decided | null;
  /** The whole verdict under the other contract, or the gate's error. */
  verdict: Json | null;
  /**
   * `evaluated`; `not_reached`: the other contract had ended the loop before; `unknown`: the loop stopped and was gone on with
   * by a person, where the other contract would have gone on by itself; `failed`: the gate answered with an error.
   */
  state: "evaluated" | "not_reached" | "unknown" | "failed";
  /** The decision, stop reason or detail is another one. */
  changed: boolean;
}
