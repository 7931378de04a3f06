// The whole page in the fragment of its address: packed, versioned, and read as what it is, a stranger's text.

import { iteration, list, number, object, orNull, text, WrongShape } from "./decode";
import { gate } from "./gate";
import type { Log, Shared } from "./model";

/** The form of what is packed. Another number: another form. */
const VERSION = "1";
/** The longest link that is made or read. Browsers and chat programs cut longer ones. */
const MOST_LINK = 64 * 1024;
/** The most that a link may become when it is unpacked. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Why there is no link, or why a link can't be read; for the person. */
export class LinkError extends Error {}

/** What a link says, and by which gate it was made. */
export interface Link {
  shared: Shared;
  gate: { version: string; digest: string };
}

/** The fragment for a page, without the `#`. */
export async function pack(shared: Shared): Promise<string> {
  // The iterations of a log are in the log.
  const text = JSON.stringify({ gate: { version: gate().version(), digest: gate().digest() }, ...shared, ...(shared.log ? { iterations: [] } : {}) });
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
  try {
    return decode(parse(bytes));
  } catch (error) {
    throw error instanceof WrongShape ? damaged(error.message) : error;
  }
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

function decode(value: unknown): Link {
  const page = object(value, "the page");
  const maker = object(page["gate"], "gate");
  const iterations = list(page["iterations"], "iterations", iteration);
  const at = number(page["at"], "at");
  const opened = orNull(page["log"], "log", log);
  if (opened === null && at >= iterations.length) throw damaged("`at` is no iteration");
  return {
    gate: { version: text(maker["version"], "gate.version"), digest: text(maker["digest"], "gate.digest") },
    shared: {
      contract: text(page["contract"], "contract"),
      pinned: orNull(page["pinned"], "pinned", text),
      iterations,
      at,
      example: orNull(page["example"], "example", text),
      log: opened,
    },
  };
}

function log(value: unknown, at: string): Log {
  const fields = object(value, at);
  return { name: text(fields["name"], at), text: text(fields["text"], at) };
}
