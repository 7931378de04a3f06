// What is shown of a page: every iteration with its verdict, and with the one that another contract would give.

import { isError, type Answer, type ContractReport, type Ruling, type Verdict } from "./answers";
import type { LogReport, Totals } from "ralph-gate-web/history";
import type { Opened } from "./history";
import { check, differs, evaluate } from "./loop";
import type { Iteration, Shared } from "./model";

export interface Seen {
  index: number;
  /** Under the contract that the loop began with. */
  recorded: Answer<Verdict>;
  /** Under the contract in the editor. Null: it is the same one, or the loop would have ended before. */
  other: Answer<Verdict> | null;
  state: "recorded" | "evaluated" | "not_reached" | "unknown" | "failed";
  /** The loop goes another way here. */
  changed: boolean;
}

export interface View {
  report: ContractReport;
  iterations: Iteration[];
  seen: Seen[];
  /** The contract in the editor is another one than the loop began with. */
  compared: boolean;
  /** What to keep in mind about the comparison. */
  notes: string[];
  saved: Totals | null;
  log: LogReport | null;
}

export function rulingOf(answer: Answer<Verdict> | null | undefined): Ruling | null {
  return answer && !isError(answer) ? answer : null;
}

export function view(shared: Shared, opened: Opened | null): View {
  const report = check(shared.contract);
  return opened ? ofLog(shared, opened, report) : ofLoop(shared, report);
}

function ofLoop(shared: Shared, report: ContractReport): View {
  const { contract, pinned, iterations } = shared;
  const compared = pinned !== null && pinned !== contract && check(pinned).digest !== report.digest;
  const recorded = evaluate(compared ? pinned : contract, iterations);
  const others = compared ? evaluate(contract, iterations) : [];
  const seen = recorded.map((answer, index): Seen => compare(index, answer, others[index]));
  return { report, iterations, seen, compared, notes: [], saved: null, log: null };
}

function compare(index: number, recorded: Answer<Verdict>, other: Answer<Verdict> | undefined): Seen {
  if (!other) return { index, recorded, other: null, state: "recorded", changed: false };
  const ended = isError(other) && other.error.code === "loop_stopped";
  const changed = differs(rulingOf(recorded), rulingOf(other)) && !(ended && isError(recorded));
  return { index, recorded, other: ended ? null : other, state: ended ? "not_reached" : isError(other) ? "failed" : "evaluated", changed };
}

function ofLog(shared: Shared, { report: log, whatIf, iterations }: Opened, report: ContractReport): View {
  const compared = report.valid && report.digest !== (log.loop?.contract_digest ?? null);
  const answer = compared ? whatIf(shared.contract) : null;
  const other = answer && !("error" in answer) ? answer : null;
  const notes = other ? [...(other.unknown ? [other.unknown.message] : []), ...other.notes] : answer && "error" in answer ? [answer.error.message] : [];
  const seen = log.iterations.map((recorded, index): Seen => {
    const line = other?.iterations[index];
    return {
      index,
      recorded: recorded.verdict as unknown as Verdict,
      other: (line?.verdict ?? null) as unknown as Verdict | null,
      state: line?.state ?? "recorded",
      changed: line?.changed ?? false,
    };
  });
  return { report, iterations, seen, compared: other !== null, notes, saved: other?.saved ?? null, log };
}
