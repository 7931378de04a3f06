// What the page holds: a contract, and a loop of iterations as the gate is given them.

export interface Check {
  id: string;
  outcome: string;
  reason?: string;
  code?: string;
  attempts?: string[];
  iteration?: number;
  fingerprint?: string;
}

export interface Artifact {
  name: string;
  kind: string;
  content: string;
}

export interface ToolOutput {
  name: string;
  content: string;
}

export interface Tampering {
  what: string;
  reason: string;
}

export interface Usage {
  elapsed_ms?: number;
  tool_calls?: number;
  cost_usd?: string;
  tokens?: number;
}

export interface Note {
  operator: string;
  reason: string;
}

/** One turn of the agent. Its index is its place in the loop. */
export interface Iteration {
  action: string;
  canceled?: boolean;
  output: string;
  checks: Check[];
  artifacts: Artifact[];
  tool_outputs: ToolOutput[];
  tampered: Tampering[];
  usage: Usage;
  override?: Note | null;
}

/** A log that was opened: its text, and the name of its file. */
export interface Log {
  name: string;
  text: string;
}

/** Everything that a link carries. */
export interface Shared {
  /** The text of the contract, as it is written. */
  contract: string;
  /** The contract that the loop began with, where the one in the editor is being compared with it. */
  pinned: string | null;
  iterations: Iteration[];
  /** The iteration that is looked at, from 0. */
  at: number;
  /** The example that this began as. */
  example: string | null;
  log: Log | null;
}

export const EMPTY_ITERATION: Iteration = {
  action: "final",
  output: "",
  checks: [],
  artifacts: [],
  tool_outputs: [],
  tampered: [],
  usage: {},
};

/** A page on which nothing was written yet. */
export function empty(): Shared {
  return { contract: "", pinned: null, iterations: [{ ...EMPTY_ITERATION }], at: 0, example: null, log: null };
}

/** What the next iteration begins with: the same work, another turn. */
export function following(last: Iteration): Iteration {
  const checks = last.checks.map(({ id, outcome, reason }) => (reason === undefined ? { id, outcome } : { id, outcome, reason }));
  return { ...EMPTY_ITERATION, output: last.output, checks, artifacts: last.artifacts, tool_outputs: last.tool_outputs, usage: last.usage };
}
