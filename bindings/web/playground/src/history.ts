// Event logs: read, replayed and compared by the crate that the host uses too, compiled for the page. Fetched with the first log.

import type { Answer, LogReport, ReplayReport, WhatIfReport } from "ralph-gate-web/history";
import { iteration, WrongShape } from "./decode";
import { gate } from "./gate";
import type { Iteration, Log } from "./model";

/** The longest log that is read. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Why a log can't be shown; for the person. */
export class LogError extends Error {}

export interface Opened {
  report: LogReport;
  /** Whether the gate still says the same; with the contract, for a log that does not carry it. */
  replay: (contract: string) => Answer<ReplayReport>;
  iterations: Iteration[];
  /** The contract that the loop began with, where the log carries it. */
  contract: string | null;
  whatIf: (contract: string) => Answer<WhatIfReport>;
}

/** Reads a file. */
export async function readLog(file: File): Promise<Log> {
  if (file.size > MOST_BYTES) throw new LogError(`${file.name} has ${Math.ceil(file.size / 1024 / 1024)} MB, and ${MOST_BYTES / 1024 / 1024} MB is the most that this page reads.`);
  return { name: file.name, text: await file.text() };
}

/** Opens a log. Throws a `LogError` for what is none. */
export async function openLog(log: Log): Promise<Opened> {
  const { loadHistory } = await import("ralph-gate-web/history");
  const history = await loadHistory();
  const report = history.readLog(log.text);
  if ("error" in report) throw new LogError(`${log.name} is no event log: ${report.error.message}`);
  if (report.iterations.length === 0) throw new LogError(`${log.name} is an event log in which nothing was judged yet.`);
  const digested = report.iterations.find((it) => it.not_replayable !== undefined);
  if (digested) throw new LogError(`${log.name} can't be shown: line ${digested.line} is ${digested.not_replayable}.`);
  return {
    report,
    replay: once((contract) => history.replay(log.text, gate(), report.loop?.contract ? undefined : contract)),
    iterations: report.iterations.map(({ given, line }) => decode(given.iteration, line)),
    contract: pretty(report.loop?.contract ?? null),
    whatIf: once((contract) => history.whatIf(log.text, contract, gate())),
  };
}

/** A function that keeps its last answer. */
function once<T>(make: (given: string) => T): (given: string) => T {
  let last: { given: string; made: T } | null = null;
  return (given) => {
    if (last?.given !== given) last = { given, made: make(given) };
    return last.made;
  };
}

function decode(value: unknown, line: number): Iteration {
  try {
    return iteration(value, "iteration");
  } catch (error) {
    throw error instanceof WrongShape ? new LogError(`Line ${line} of the log has an iteration that can't be shown: ${error.message}.`) : error;
  }
}

/** A contract as a person would write it. */
function pretty(contract: string | null): string | null {
  if (contract === null) return null;
  try {
    return JSON.stringify(JSON.parse(contract), null, 2);
  } catch {
    return contract;
  }
}
