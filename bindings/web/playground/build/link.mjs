// Puts the package for browsers where the sources find it: generated/ralph-gate-web leads to where it was built.

import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { resolve } from "node:path";

const here = resolve(import.meta.dirname, "..");
const built = resolve(process.env.RALPH_GATE_WEB ?? resolve(here, "../../../target/bindings/web"));
const link = resolve(here, "generated/ralph-gate-web");

if (!existsSync(resolve(built, "dist/index.js"))) {
  console.error(`there is no built package at ${built}: make it with \`cargo xtask package web\`, or name it in RALPH_GATE_WEB`);
  process.exit(1);
}
mkdirSync(resolve(here, "generated"), { recursive: true });
rmSync(link, { recursive: true, force: true });
symlinkSync(built, link);
