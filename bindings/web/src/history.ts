// Event logs in a page: what the host's own code says about an `events.jsonl`, compiled for the browser. Nothing leaves the page.

import { initSync, read_log, replay, report, what_if } from "./page/history.js";
import type { Answer, EffectivenessReport, LogReport, LogText, ReplayReport, ReportRequest, WhatIfReport } from "./reports.js";
import { compile, type WasmSource } from "./wasm.js";

export type * from "./reports.js";
export type { WasmSource } from "./wasm.js";

/** Whatever answers for the gate: what `loadGate` gives, for one. */
export interface GateFace {
  /** A function of the JSON face by its name: one text in, one text out. */
  call(name: string, input: string): string;
}

/** Questions about the text of an `events.jsonl`. What is wrong with a log or a contract is an answer with `error`. */
export class History {
  /** Everything that a log says. */
  readLog(text: string): Answer<LogReport> {
    return JSON.parse(read_log(text));
  }

  /**
   * Whether the gate answers every iteration with the same bytes as it did.
   *
   * @param contract the session's `contract.json`, for logs that do not carry their contract.
   */
  replay(text: string, gate: GateFace, contract?: string): Answer<ReplayReport> {
    return JSON.parse(replay(text, calls(gate), contract));
  }

  /** What would have happened under another contract, which may be JSON, YAML or TOML. */
  whatIf(text: string, contract: string, gate: GateFace): Answer<WhatIfReport> {
    return JSON.parse(what_if(text, contract, calls(gate)));
  }

  /**
   * Whether the gate made loops better: two arms of the runs in some logs, compared as `ralph-gate report` compares them. A log may
   * hold many runs, also those that `ralph-gate import` read out of transcripts.
   */
  report(logs: LogText[], request: ReportRequest = {}): Answer<EffectivenessReport> {
    const made = report(logs.map(({ name }) => name), logs.map(({ text }) => text), JSON.stringify(request));
    try {
      const error = made.error();
      return error === undefined ? { json: made.json(), html: made.html() } : JSON.parse(error);
    } finally {
      made.free();
    }
  }
}

const calls = (gate: GateFace) => (name: string, input: string) => gate.call(name, input);

/**
 * Loads what reads logs.
 *
 * @param wasm where `history.wasm` of this package is, if it is not beside this module; or its bytes, or what
 *   `WebAssembly.compile` made of them.
 */
export async function loadHistory(wasm: WasmSource = new URL("./page/history.wasm", import.meta.url)): Promise<History> {
  initSync({ module: await compile(wasm) });
  return new History();
}
