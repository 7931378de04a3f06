// How the site is built: a folder of files that any file server can serve, in any folder of its.

import { resolve } from "node:path";
import { defineConfig } from "vite";

const here = import.meta.dirname;
const web = resolve(here, "generated/ralph-gate-web/dist");

export default defineConfig({
  base: "./",
  resolve: {
    alias: [
      { find: "ralph-gate-web/history", replacement: resolve(web, "history.js") },
      { find: "ralph-gate-web", replacement: resolve(web, "index.js") },
    ],
  },
  build: {
    outDir: process.env["RALPH_GATE_PLAYGROUND"] ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    // Nothing is inlined: the content security policy knows no data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  worker: { format: "es" },
  server: { fs: { allow: [resolve(here, "../../..")] } },
});
