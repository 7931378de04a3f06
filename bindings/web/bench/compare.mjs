// The gate in a browser, made in two ways of the same crate: the component through jco, which is shipped, and wasm-bindgen.
// `node compare.mjs [--quick]` prints sizes over the wire, start-up and the cost of a call, measured in one Chromium, as JSON.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { PACKAGE, PROJECT, launch, serve } from "../../../tests/hosts/browser.mjs";
import { benchFiles } from "./files.mjs";

const quick = process.argv.includes("--quick");
const WAYS = {
  jco: { folder: join(PROJECT, PACKAGE, "dist/gate"), files: ["component.js", "gate.wasm"] },
  "wasm-bindgen": { folder: join(PROJECT, "../web-comparison"), files: ["gate.js", "gate_bg.wasm"] },
};

const pages = { "/": "<!doctype html>", ...(await benchFiles()) };
const sizes = {};
for (const [way, { folder, files }] of Object.entries(WAYS)) {
  const contents = await Promise.all(files.map((file) => readFile(join(folder, file))));
  files.forEach((file, at) => (pages[`/${way}/${file}`] = contents[at]));
  const sum = (pack) => contents.reduce((total, bytes) => total + pack(bytes).length, 0);
  sizes[way] = { plain: sum((bytes) => bytes), gzip: sum((bytes) => gzipSync(bytes, { level: 9 })), brotli: sum(brotliCompressSync) };
}
const server = await serve(PROJECT, pages);
const browser = await launch();
try {
  const start = await startUp(quick ? 5 : 21);
  const calls = await callCost(quick ? 500 : 3000);
  const report = Object.keys(WAYS).map((way) => [way, { bytes: sizes[way], start_ms: start[way], call_us: calls[way] }]);
  console.log(JSON.stringify(Object.fromEntries(report), null, 2));
} finally {
  await browser.close();
  server.close();
}

/** From nothing to the first answer, with the files on loopback: in a new page each time, in turns; the quickest counts. */
async function startUp(rounds) {
  const found = Object.fromEntries(Object.keys(WAYS).map((way) => [way, []]));
  for (let round = 0; round < rounds; round++) {
    for (const way of Object.keys(WAYS)) {
      const page = await browser.newPage();
      await page.goto(server.origin);
      found[way].push(await page.evaluate(begin, way));
      await page.close();
    }
  }
  return Object.fromEntries(Object.entries(found).map(([way, numbers]) => [way, Math.min(...numbers)]));
}

async function begin(way) {
  const begun = performance.now();
  if (way === "jco") {
    const core = WebAssembly.compileStreaming(fetch("/jco/gate.wasm"));
    const { load } = await import("/jco/component.js");
    load(await core).json.call("parse_promises", '{"output":""}');
  } else {
    const { default: init, call } = await import("/wasm-bindgen/gate.js");
    await init({ module_or_path: "/wasm-bindgen/gate_bg.wasm" });
    call("parse_promises", '{"output":""}');
  }
  return performance.now() - begun;
}

/** Microseconds of one evaluation, asked for as a session with values and as texts that stand alone; both builds in turns. */
async function callCost(milliseconds) {
  const page = await browser.newPage();
  await page.goto(server.origin);
  return page.evaluate(async ([path, milliseconds]) => {
    const { SIZES, bySession, byText, measure } = await import("/bench/measure.js");
    const { loadGate } = await import(`${path}/dist/index.js`);
    const jco = await loadGate("/jco/gate.wasm");
    const { default: init, call, Session } = await import("/wasm-bindgen/gate.js");
    await init({ module_or_path: "/wasm-bindgen/gate_bg.wasm" });
    // The least that an equal face would have to do.
    const openSession = (contract) => {
      const session = new Session(JSON.stringify(contract));
      return { evaluateFinal: (iteration) => JSON.parse(session.evaluate_final(JSON.stringify(iteration))) };
    };
    const found = { jco: {}, "wasm-bindgen": {} };
    for (const [label, size] of Object.entries(SIZES)) {
      const sessions = measure({ jco: bySession(jco, size), "wasm-bindgen": bySession({ openSession }, size) }, milliseconds);
      const texts = measure({ jco: byText(jco.call, size), "wasm-bindgen": byText(call, size) }, milliseconds);
      for (const way of Object.keys(found)) found[way][label] = { session: sessions[way], text: texts[way] };
    }
    return found;
  }, [PACKAGE, milliseconds]);
}
