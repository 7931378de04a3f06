// The gate in the page. The only file that knows how its bytes get here; everything else asks through `ask`.

import about from "../generated/about.json";
import { instantiate } from "../generated/gate.js";
import core from "../generated/gate.core.wasm?url";
import core2 from "../generated/gate.core2.wasm?url";
import core3 from "../generated/gate.core3.wasm?url";
import type { Answer } from "./answers";

/** The version of the gate, and the BLAKE3 digest of its component. */
export const GATE: { version: string; digest: string } = about;

const FILES: Record<string, string> = {
  "gate.core.wasm": core,
  "gate.core2.wasm": core2,
  "gate.core3.wasm": core3,
};

/** The JSON face: a function's name and its input as JSON, the answer as JSON. */
export type Call = (name: string, input: string) => string;

let face: Call | null = null;

/** Fetches and compiles the gate, once. */
export async function load(): Promise<void> {
  const compile = async ([name, url]: [string, string]) => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${name} could not be loaded: the server answered ${response.status}`);
    // Not every file server knows the type of .wasm files, so the bytes are not streamed.
    return [name, await WebAssembly.compile(await response.arrayBuffer())] as const;
  };
  const modules = new Map(await Promise.all(Object.entries(FILES).map(compile)));
  const get = (path: string) => {
    const module = modules.get(path);
    if (!module) throw new Error(`the gate has no part ${path}`);
    return module;
  };
  const gate = instantiate(get, {});
  face = (name, input) => gate.json.call(name, input);
}

/** Asks the gate with text. */
export const call: Call = (name, input) => {
  if (!face) throw new Error("the gate is not loaded yet");
  return face(name, input);
};

/** Asks the gate with values. */
export function ask<T extends object>(name: string, input: object): Answer<T> {
  return JSON.parse(call(name, JSON.stringify(input, wellFormed))) as Answer<T>;
}

/** Half of a surrogate pair is no character, and the gate reads only characters. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
