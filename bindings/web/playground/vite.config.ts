// How the site is built: from the gate's component to a folder of files that any file server can serve.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vite";
// @ts-expect-error it is plain JavaScript
import { generate } from "./build/gate.mjs";

const root = resolve(import.meta.dirname, "../../..");
const component = process.env["RALPH_GATE_COMPONENT"] ?? resolve(root, "target/gate/ralph-gate.wasm");
const page = process.env["RALPH_GATE_PAGE"] ?? resolve(root, "target/bindings/web/page");

export default defineConfig(async () => {
  if (!existsSync(component)) {
    throw new Error(`there is no gate at ${component}: make it with \`cargo xtask build\`, or name it in RALPH_GATE_COMPONENT`);
  }
  await generate(root, component, page, resolve(import.meta.dirname, "generated"));
  return {
    // Relative, so that the site works in any folder of a server.
    base: "./",
    build: {
      outDir: process.env["RALPH_GATE_PLAYGROUND"] ?? "dist",
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
    worker: { format: "es" as const },
    server: { fs: { allow: [root] } },
  };
});
