// The package works wherever JavaScript does: module systems, bundles, Workers, Bun, Deno.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { BUILT, node, run, scratch } from "./kit.mjs";

const USE = `console.log(parsePromises("<promise>DONE</promise>").accepted, openSession({ mode: "ralph", completion_token: "A" }).brief().iteration);`;
const ESM = `import { openSession, parsePromises } from "ralph-gate";\n${USE}\n`;
const CJS = `const { openSession, parsePromises } = require("ralph-gate");\n${USE}\n`;
const PRINTED = "DONE 1\n";

function written(context, name, text) {
  const path = join(scratch(context), name);
  writeFileSync(path, text);
  return path;
}

test("ESM", (context) => assert.equal(node(written(context, "it.mjs", ESM)), PRINTED));
test("CommonJS", (context) => assert.equal(node(written(context, "it.cjs", CJS)), PRINTED));

test("nothing is compiled before the first call", (context) => {
  const text = `
    const { Module } = WebAssembly;
    let compiled = 0;
    WebAssembly.Module = class extends Module { constructor(bytes) { super(bytes); compiled += 1; } };
    const { parsePromises, version } = await import("ralph-gate");
    version();
    const before = compiled;
    parsePromises("");
    console.log(before, compiled > 0);
  `;
  assert.equal(node(written(context, "it.mjs", text)), "0 true\n");
});

const esbuild = createRequire(join(BUILT, "package.json"))("esbuild");
for (const [format, platform, ending] of [["esm", "node", "mjs"], ["cjs", "node", "cjs"], ["iife", "browser", "cjs"]]) {
  test(`a bundle for ${platform} in the format ${format}`, async (context) => {
    const entry = written(context, "it.mjs", ESM);
    const outfile = join(scratch(context), `bundle.${ending}`);
    const { warnings } = await esbuild.build({ entryPoints: [entry], outfile, bundle: true, format, platform, minify: true, logLevel: "silent" });
    assert.deepEqual(warnings, []);
    assert.equal(run(process.execPath, [outfile], { cwd: "/" }), PRINTED);
  });
}

test("a Worker has a gate of its own", async (context) => {
  const text = `
    import { parentPort } from "node:worker_threads";
    import { parsePromises } from "ralph-gate";
    parentPort.postMessage(parsePromises("<promise>DONE</promise>").accepted);
  `;
  const worker = new Worker(written(context, "worker.mjs", text));
  const answer = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  assert.equal(answer, "DONE");
});

// Told by `cargo xtask test`, which says so where they can't be had.
const { RALPH_GATE_BUN: bun, RALPH_GATE_DENO: deno } = process.env;
if (bun) {
  test("Bun, ESM", (context) => assert.equal(run(bun, [written(context, "it.mjs", ESM)]), PRINTED));
  test("Bun, CommonJS", (context) => assert.equal(run(bun, [written(context, "it.cjs", CJS)]), PRINTED));
}
if (deno) {
  const args = ["run", "--no-prompt", "--cached-only", "--node-modules-dir=manual"];
  // Without a single permission but to read itself: the gate needs none.
  test("Deno, ESM", (context) => assert.equal(run(deno, [...args, "--allow-read", written(context, "it.mjs", ESM)]), PRINTED));
  test("Deno, CommonJS", (context) => assert.equal(run(deno, [...args, "--allow-read", written(context, "it.cjs", CJS)]), PRINTED));
}
