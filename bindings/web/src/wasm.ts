// WebAssembly from wherever it is: compiled while it arrives, where that is possible.

/** Where a module is: its address, an answer that brings it, its bytes, or itself when it is compiled already. */
export type WasmSource = string | URL | Response | Promise<Response> | BufferSource | WebAssembly.Module;

/** Compiles a module. Nothing is kept: keep what comes back. */
export async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  const given = await source;
  if (given instanceof WebAssembly.Module) return given;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return WebAssembly.compile(given as BufferSource);
  const response = given instanceof Response ? given : await fetch(given as string | URL);
  if (!response.ok) {
    throw new Error(`${response.url} can't be fetched: ${response.status} ${response.statusText}`.trimEnd());
  }
  // A server that does not call it WebAssembly costs the streaming, and nothing else.
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
