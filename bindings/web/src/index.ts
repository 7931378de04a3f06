// The gate for browsers and their Workers: the component's core is fetched beside this module, or taken from where you say.

import { Gate } from "./face/index.js";
import { identity, load } from "./gate/component.js";
import { compile, type WasmSource } from "./wasm.js";

export * from "./face/index.js";
export type { WasmSource } from "./wasm.js";

/**
 * Loads the gate.
 *
 * @param wasm where `gate.wasm` of this package is, if it is not beside this module; or its bytes, or what `WebAssembly.compile`
 *   made of them, which can be sent to a Worker.
 */
export async function loadGate(wasm: WasmSource = new URL("./gate/gate.wasm", import.meta.url)): Promise<Gate> {
  const module = await compile(wasm);
  return new Gate(() => load(module), identity);
}
