// Turns a component into JavaScript and core modules, in a Worker: what is taken apart here is a stranger's.

import { $init, generate } from "@bytecodealliance/jco-transpile/component";

addEventListener("message", async ({ data }: MessageEvent<Uint8Array>) => {
  try {
    await $init;
    const { files, imports, exports } = generate(data, { name: "policy", noTypescript: true, noNodejsCompat: true, instantiation: { tag: "sync" }, base64Cutoff: 0 });
    postMessage({ files, imports, exports });
  } catch (error) {
    postMessage({ error: describe(error) });
  }
});

function describe(error: unknown): string {
  if (typeof error === "object" && error !== null && "payload" in error) return String(error.payload);
  return error instanceof Error ? error.message : String(error);
}
