// The whole page in the fragment of its address: packed, versioned, and read as what it is, a stranger's text.

import { GATE } from "./gate";
import { type Artifact, type Check, type Iteration, type Log, type Note, type Shared, type Tampering, type ToolOutput, type Usage } from "./model";

/** The form of what is packed. Another number: another form. */
const VERSION = "1";
/** The longest link that is made or read. Browsers and chat programs cut longer ones. */
const MOST_LINK = 64 * 1024;
/** The most that a link may become when it is unpacked. */
const MOST_BYTES = 4 * 1024 * 1024;
/** The most iterations, checks, artifacts and so on. */
const MOST_ITEMS = 2000;

/** Why there is no link, or why a link can't be read; for the person. */
export class LinkError extends Error {}

/** What a link says, and by which gate it was made. */
export interface Link {
  shared: Shared;
  gate: { version: string; digest: string };
}

/** The fragment for a page, without the `#`. */
export async function pack(shared: Shared): Promise<string> {
  const text = JSON.stringify({ gate: GATE, ...shared });
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"), MOST_BYTES);
  const fragment = `${VERSION}.${toBase64(packed)}`;
  if (fragment.length > MOST_LINK) {
    throw new LinkError(`This page would need a link of ${kilobytes(fragment.length)}, and ${kilobytes(MOST_LINK)} is the most that travels well. Share the files instead.`);
  }
  return fragment;
}

/** What a fragment says. Throws a `LinkError` for everything that is not a page. */
export async function unpack(fragment: string): Promise<Link> {
  const [version, packed, ...rest] = fragment.split(".");
  if (!version || packed === undefined || rest.length > 0 || !/^\d{1,9}$/.test(version)) throw damaged("it has another shape");
  if (version !== VERSION) throw new LinkError(`This link has form ${version}, and this page reads form ${VERSION}. It was made by another version of the playground.`);
  if (fragment.length > MOST_LINK) throw damaged(`it is longer than ${kilobytes(MOST_LINK)}`);
  const bytes = await through(fromBase64(packed), new DecompressionStream("deflate-raw"), MOST_BYTES);
  return decode(parse(bytes));
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw damaged("what is inside is not JSON");
  }
}

function damaged(why: string): LinkError {
  return new LinkError(`This link can't be read: ${why}. Nothing was taken from it.`);
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KB`;
}

/** Bytes through a compressor, up to a limit: a small text may stand for an endless one. */
async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = (new Blob([bytes]).stream().pipeThrough(stream) as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw damaged("what is inside is not compressed");
    });
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw damaged(`it unpacks to more than ${kilobytes(most)}`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]+$/.test(text)) throw damaged("it has characters that no link has");
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  } catch {
    throw damaged("it is cut off");
  }
}

// ------------------------------------------------------------------------------------------------ a stranger's values

type Fields = Record<string, unknown>;

function decode(value: unknown): Link {
  const page = object(value, "the page");
  const gate = object(page["gate"], "gate");
  const iterations = list(page["iterations"], "iterations", iteration);
  const at = number(page["at"], "at");
  if (iterations.length === 0 || at >= iterations.length) throw damaged("`at` is no iteration");
  return {
    gate: { version: text(gate["version"], "gate.version"), digest: text(gate["digest"], "gate.digest") },
    shared: {
      contract: text(page["contract"], "contract"),
      pinned: orNull(page["pinned"], "pinned", text),
      iterations,
      at,
      example: orNull(page["example"], "example", text),
      log: orNull(page["log"], "log", log),
    },
  };
}

function iteration(value: unknown, at: string): Iteration {
  const fields = object(value, at);
  return {
    action: text(fields["action"], `${at}.action`),
    ...given(fields, "canceled", at, flag),
    output: text(fields["output"], `${at}.output`),
    checks: list(fields["checks"], `${at}.checks`, check),
    artifacts: list(fields["artifacts"], `${at}.artifacts`, artifact),
    tool_outputs: list(fields["tool_outputs"], `${at}.tool_outputs`, toolOutput),
    tampered: list(fields["tampered"], `${at}.tampered`, tampering),
    usage: usage(fields["usage"], `${at}.usage`),
    override: orNull(fields["override"] ?? null, `${at}.override`, note),
  };
}

function check(value: unknown, at: string): Check {
  const fields = object(value, at);
  return {
    id: text(fields["id"], `${at}.id`),
    outcome: text(fields["outcome"], `${at}.outcome`),
    ...given(fields, "reason", at, text),
    ...given(fields, "code", at, text),
    ...given(fields, "attempts", at, (value, at) => list(value, at, text)),
    ...given(fields, "iteration", at, number),
    ...given(fields, "fingerprint", at, text),
  };
}

function artifact(value: unknown, at: string): Artifact {
  const fields = object(value, at);
  return { name: text(fields["name"], at), kind: text(fields["kind"], at), content: text(fields["content"], at) };
}

function toolOutput(value: unknown, at: string): ToolOutput {
  const fields = object(value, at);
  return { name: text(fields["name"], at), content: text(fields["content"], at) };
}

function tampering(value: unknown, at: string): Tampering {
  const fields = object(value, at);
  return { what: text(fields["what"], at), reason: text(fields["reason"], at) };
}

function usage(value: unknown, at: string): Usage {
  const fields = object(value, at);
  return {
    ...given(fields, "elapsed_ms", at, number),
    ...given(fields, "tool_calls", at, number),
    ...given(fields, "cost_usd", at, text),
    ...given(fields, "tokens", at, number),
  };
}

function note(value: unknown, at: string): Note {
  const fields = object(value, at);
  return { operator: text(fields["operator"], at), reason: text(fields["reason"], at) };
}

function log(value: unknown, at: string): Log {
  const fields = object(value, at);
  return { name: text(fields["name"], at), text: text(fields["text"], at) };
}

/** A field that may be absent. */
function given<N extends string, T>(fields: Fields, name: N, at: string, read: (value: unknown, at: string) => T): { [name in N]?: T } {
  const value = fields[name];
  return value === undefined || value === null ? {} : ({ [name]: read(value, `${at}.${name}`) } as { [name in N]?: T });
}

function orNull<T>(value: unknown, at: string, read: (value: unknown, at: string) => T): T | null {
  return value === null ? null : read(value, at);
}

function object(value: unknown, at: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw damaged(`\`${at}\` is no object`);
  return value as Fields;
}

function list<T>(value: unknown, at: string, read: (value: unknown, at: string) => T): T[] {
  if (!Array.isArray(value) || value.length > MOST_ITEMS) throw damaged(`\`${at}\` is no list, or too long`);
  return value.map((item, index) => read(item, `${at}[${index}]`));
}

function text(value: unknown, at: string): string {
  if (typeof value !== "string") throw damaged(`\`${at}\` is no text`);
  return value;
}

function number(value: unknown, at: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw damaged(`\`${at}\` is no count`);
  return value as number;
}

function flag(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw damaged(`\`${at}\` is neither true nor false`);
  return value;
}
