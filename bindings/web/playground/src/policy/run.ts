// A stranger's policy: taken apart in one Worker, run in another one inside the cell, each with a limit on its time.

import type { Iteration } from "../model";
import { visible } from "../text";
import runner from "./runner.js?raw";
import Transpiler from "./transpile.worker?worker";

/** The largest component that is looked at. */
const MOST_BYTES = 24 * 1024 * 1024;
/** How long taking it apart may take. */
const MOST_READING_MS = 60_000;
/** How long it may take to start, describe itself and judge. */
export const LIMIT_MS = 2_000;
/** The one thing that a policy may import, and what it has to export. */
const MAY_IMPORT = "ralph:gate/artifacts";
const MUST_EXPORT = "ralph:gate/policy";
const MOST_SHOWN = 400;

/** Why a policy did not come to run; for the person. */
export class PolicyError extends Error {}

export interface Policy {
  file: string;
  size: number;
  digest: string;
  code: string;
  modules: [string, Uint8Array][];
}

export interface Description {
  name: string;
  version: string;
  summary: string;
  wants: string[];
}

/** What came of a run. All texts are bounded, and nothing in them is hidden. */
export type Result =
  | { kind: "judged"; description: Description; outcome: string; reasons: string[]; more: number }
  | { kind: "missing"; description: Description; missing: string[] }
  | { kind: "late"; limit: number }
  | { kind: "trapped"; message: string };

interface Transpiled {
  files: [string, Uint8Array][];
  imports: string[];
  exports: [string, string][];
}

/** Reads a policy. Throws a `PolicyError` for what is none. */
export async function read(file: File): Promise<Policy> {
  if (file.size > MOST_BYTES) throw new PolicyError(`${name(file)} has ${megabytes(file.size)}, and ${megabytes(MOST_BYTES)} is the most that this page takes.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  const { files, imports, exports } = await transpile(bytes, file);
  const strange = imports.filter((wanted) => plain(wanted) !== MAY_IMPORT);
  if (strange.length > 0) {
    const list = strange.slice(0, 5).map((it) => `\`${visible(it, 80)}\``).join(", ");
    throw new PolicyError(`${name(file)} imports ${list}${strange.length > 5 ? ` and ${strange.length - 5} more` : ""}. This page gives a policy nothing but its artifacts, so it was not run. On the command line it gets a WASI that denies everything.`);
  }
  if (!exports.some(([exported]) => plain(exported) === MUST_EXPORT)) throw new PolicyError(`${name(file)} is a component, but no policy: it does not export \`${MUST_EXPORT}\`.`);
  const code = files.find(([path]) => path.endsWith(".js"))?.[1];
  if (!code) throw new PolicyError(`${name(file)} could not be taken apart.`);
  return {
    file: file.name,
    size: file.size,
    digest: await digestOf(bytes),
    code: `${new TextDecoder().decode(code)}\n${runner}`,
    modules: files.filter(([path]) => path.endsWith(".wasm")),
  };
}

function transpile(bytes: Uint8Array<ArrayBuffer>, file: File): Promise<Transpiled> {
  return new Promise((resolve, reject) => {
    const worker = new Transpiler();
    const end = () => {
      clearTimeout(clock);
      worker.terminate();
    };
    const fail = (message: string) => {
      end();
      reject(new PolicyError(message));
    };
    const clock = setTimeout(() => fail(`${name(file)} could not be taken apart within ${MOST_READING_MS / 1000} seconds.`), MOST_READING_MS);
    worker.onerror = (event) => fail(`The reader of components could not be started here: ${event.message || "this browser refuses it"}.`);
    worker.onmessage = ({ data }: MessageEvent<Transpiled | { error: string }>) => {
      if ("error" in data) return fail(`${name(file)} is no component: ${visible(data.error, MOST_SHOWN)}`);
      end();
      resolve(data);
    };
    worker.postMessage(bytes);
  });
}

/** Runs a policy on what an iteration reports. */
export async function run(policy: Policy, iteration: Iteration, index: number, settings: string): Promise<Result> {
  const encoder = new TextEncoder();
  const artifacts = iteration.artifacts.map(({ name, content }) => [name, encoder.encode(content)] as const);
  const evidence = {
    iteration: index + 1,
    findings: iteration.checks.map(({ id, outcome, reason }) => ({ id, kind: "command", outcome, reason: reason ?? "", tests: undefined, exit: undefined })),
    artifacts: await Promise.all(artifacts.map(async ([name, bytes]) => ({ name, size: BigInt(bytes.length), digest: await digestOf(bytes), fresh: true }))),
  };
  const answer = await inCell(policy.code, { modules: policy.modules, evidence, artifacts, settings });
  return clean(answer);
}

interface Raw {
  kind: "answer" | "late" | "broken";
  message?: string;
  answer?: { trap?: string; description?: Description; missing?: string[]; outcome?: string; reasons?: string[]; more?: number };
}

/** A cell for one run. Taking it away ends whatever is in it. */
function inCell(code: string, given: object): Promise<Raw> {
  return new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = "The cell that a policy runs in";
    frame.className = "hidden";
    frame.tabIndex = -1;
    frame.setAttribute("aria-hidden", "true");
    const end = (answer: Raw) => {
      clearTimeout(clock);
      removeEventListener("message", listen);
      frame.remove();
      resolve(answer);
    };
    const listen = ({ source, data }: MessageEvent) => {
      if (source !== frame.contentWindow) return;
      if (data.kind === "ready") frame.contentWindow?.postMessage({ kind: "run", code, limit: LIMIT_MS, given }, "*");
      else end(data as Raw);
    };
    // The cell ends its Worker by itself; this is for a cell that does not answer.
    const clock = setTimeout(() => end({ kind: "broken", message: "the cell did not answer" }), LIMIT_MS * 3);
    addEventListener("message", listen);
    frame.src = new URL("./cell.html", document.baseURI).href;
    document.body.append(frame);
  });
}

function clean({ kind, message, answer }: Raw): Result {
  if (kind === "late") return { kind: "late", limit: LIMIT_MS };
  if (!answer?.description) return { kind: "trapped", message: visible(String(answer?.trap ?? message ?? "it gave no answer"), MOST_SHOWN) };
  const text = (value: unknown) => visible(String(value), MOST_SHOWN);
  const { name, version, summary, wants } = answer.description;
  const description = { name: text(name), version: text(version), summary: text(summary), wants: wants.map(text) };
  if (answer.missing) return { kind: "missing", description, missing: answer.missing.map(text) };
  return { kind: "judged", description, outcome: text(answer.outcome), reasons: (answer.reasons ?? []).map(text), more: answer.more ?? 0 };
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  const { blake3 } = await import("@noble/hashes/blake3.js");
  return Array.from(blake3(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A name without its version. */
function plain(name: string): string {
  return name.replace(/@[^@]*$/, "");
}

function name(file: File): string {
  return visible(file.name, 80);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
