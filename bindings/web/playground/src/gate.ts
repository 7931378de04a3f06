// The gate in the page. The only file that knows how it gets here; everything else asks through `ask`.

import { loadGate, type Gate } from "ralph-gate-web";
import type { Answer } from "./answers";

let loaded: Gate | null = null;

/** Fetches and compiles the gate, once. */
export async function load(): Promise<void> {
  loaded ??= await loadGate();
}

/** The gate, when it is there. */
export function gate(): Gate {
  if (!loaded) throw new Error("the gate is not loaded yet");
  return loaded;
}

/** Asks the gate: a function of its JSON face, by its name. */
export function ask<T extends object>(name: string, input: object): Answer<T> {
  return JSON.parse(gate().call(name, JSON.stringify(input, wellFormed))) as Answer<T>;
}

/** Half of a surrogate pair is no character, and the gate reads only characters. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
