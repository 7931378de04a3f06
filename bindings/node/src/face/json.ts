// Values to the JSON face and back.

import type { GateError as GateErrorData } from "../generated/types.js";
import { GateError } from "./error.js";

/** How half of a surrogate pair comes out of `JSON.stringify`, and the escaped backslash that could be taken for one. */
const HALVES = /\\(\\|ud[89a-f][0-9a-f]{2})/g;

/**
 * A value's JSON. Half of a surrogate pair, as cutting a string leaves it, is no text in any other language: it becomes
 * U+FFFD, as it does wherever JavaScript writes UTF-8.
 */
export function toText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes("\\ud") ? text.replace(HALVES, (found, what) => (what === "\\" ? found : "\ufffd")) : text;
}

/** The gate's answer, or its error thrown. */
export function fromText(text: string): any {
  const answer = JSON.parse(text) as { error?: GateErrorData };
  if (answer.error) throw new GateError(answer.error);
  return answer;
}
