// The package as a user has it: packed, installed into an empty project, and used by a page in Chromium.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BUILT, PACKAGE, POLICY, PROJECT, launch, serve } from "../../../tests/hosts/browser.mjs";

/** The checkout. */
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** A log: four turns that say they are done and are not, then one that is. */
const LOG = readFileSync(join(ROOT, "host/history/testdata/events.jsonl"), "utf8");

const IMPORTS = {
  "ralph-gate-web": `${PACKAGE}/dist/index.js`,
  "ralph-gate-web/history": `${PACKAGE}/dist/history.js`,
};

/** Loads the gate, perhaps from what it is sent, and says which it is and what it answers. */
const WORKER = `
import { loadGate } from "${PACKAGE}/dist/index.js";
onmessage = async ({ data }) => {
  const gate = await loadGate(data ?? undefined);
  postMessage([gate.digest(), gate.call("parse_promises", '{"output":"<promise>X</promise>"}')]);
};`;

let project, server, browser;

before(async () => {
  // Somebody's own files, beside what npm has installed from the packed package.
  project = mkdtempSync(join(tmpdir(), "ralph-gate-web-"));
  symlinkSync(join(PROJECT, "node_modules"), join(project, "node_modules"));
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  const map = `<script type="importmap" nonce="map">${JSON.stringify({ imports: IMPORTS })}</script>`;
  const pages = {
    "/": `<!doctype html><title>page</title>${map}`,
    "/readme": `<!doctype html><title>readme</title>${map}<script type="module" src="/example.js"></script>`,
    "/example.js": example(),
    "/worker.js": WORKER,
    "/events.jsonl": LOG,
    "/gate.bin": readFileSync(join(PROJECT, PACKAGE, "dist/gate/gate.wasm")),
  };
  server = await serve(project, pages, POLICY.replace("script-src", "script-src 'nonce-map'"));
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.close();
  rmSync(project, { recursive: true, force: true });
});

/** The JavaScript of the README, one block after another. */
function example() {
  const readme = readFileSync(join(ROOT, "bindings/web/README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code);
  assert.equal(blocks.length, 2);
  return `${blocks.join("\n")}\nconsole.log("end of the example");\n`;
}

/** A page whose mistakes are remembered. */
async function open(path = "/") {
  const page = await browser.newPage();
  page.said = [];
  page.mistakes = [];
  page.on("console", (message) => (message.type() === "error" ? page.mistakes : page.said).push(message.text()));
  page.on("pageerror", (error) => page.mistakes.push(String(error)));
  await page.goto(server.origin + path);
  return page;
}

test("the example of the README says what it says it says", async () => {
  const page = await browser.newPage();
  const said = [];
  const end = new Promise((resolve, reject) => {
    page.on("pageerror", reject);
    page.on("console", (message) => {
      if (message.text() === "end of the example") resolve();
      else said.push(message.text());
    });
  });
  await page.goto(`${server.origin}/readme`);
  await end;
  const promised = [...example().matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
  assert.ok(promised.length > 5);
  assert.deepEqual(said, promised);
});

test("the example of the README has the types that it needs", () => {
  // Answers may be errors; the example knows that these are none.
  writeFileSync(join(project, "example.ts"), example().replaceAll(/= history\.(.*);/g, "= history.$1 as any;"));
  const options = "--strict --noEmit --target es2022 --module esnext --moduleResolution bundler --lib es2023,esnext.disposable,dom";
  const tsc = join(BUILT, "node_modules/typescript/bin/tsc");
  const words = [tsc, ...options.split(" "), "--skipLibCheck", "false", "example.ts"];
  execFileSync(process.execPath, words, { cwd: project, stdio: ["ignore", "inherit", "inherit"] });
  writeFileSync(join(project, "mistake.ts"), 'import { loadGate } from "ralph-gate-web";\n(await loadGate()).openSession(1);\n');
  const mistaken = words.with(-1, "mistake.ts");
  assert.throws(() => execFileSync(process.execPath, mistaken, { cwd: project, stdio: "ignore" }));
});

test("it works in a Worker, by itself and with a module that the page has compiled", async () => {
  const page = await open();
  const [here, alone, given] = await page.evaluate(async (gateAddress) => {
    const { loadGate } = await import("ralph-gate-web");
    const ask = (data) =>
      new Promise((resolve, reject) => {
        const worker = new Worker("/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (error) => reject(new Error(error.message));
        worker.postMessage(data);
      });
    const gate = await loadGate();
    const here = [gate.digest(), gate.call("parse_promises", '{"output":"<promise>X</promise>"}')];
    const module = await WebAssembly.compileStreaming(fetch(gateAddress));
    return [here, await ask(null), await ask(module)];
  }, `${PACKAGE}/dist/gate/gate.wasm`);
  assert.match(here[1], /^\{"accepted":"X"/);
  assert.deepEqual(alone, here);
  assert.deepEqual(given, here);
  assert.deepEqual(page.mistakes, []);
});

test("the core may come as an address, an answer, bytes, or from a server that does not know its type", async () => {
  const page = await open();
  const digests = await page.evaluate(async () => {
    const { loadGate } = await import("ralph-gate-web");
    const bytes = await (await fetch("/gate.bin")).arrayBuffer();
    const sources = ["/gate.bin", new URL("/gate.bin", location), fetch("/gate.bin"), await fetch("/gate.bin"), bytes, new Uint8Array(bytes)];
    const gates = await Promise.all(sources.map((source) => loadGate(source)));
    return gates.map((gate) => gate.writeBrief("mode: ralph\ncompletion_token: X").token);
  });
  assert.deepEqual(digests, Array(6).fill("X"));
});

test("what can't be fetched or answered is said", async () => {
  const page = await open();
  const [missing, refused] = await page.evaluate(async () => {
    const { loadGate, GateError } = await import("ralph-gate-web");
    const missing = await loadGate("/nowhere.wasm").catch((error) => error.message);
    const gate = await loadGate();
    try {
      gate.openSession("mode: ralph\ncompletion_tokn: X");
    } catch (error) {
      return [missing, [error instanceof GateError, error.code, error.problems[0].line]];
    }
  });
  assert.match(missing, /nowhere\.wasm can't be fetched: 404/);
  assert.deepEqual(refused, [true, "invalid_contract", 2]);
});

test("a policy without 'wasm-unsafe-eval' is the only thing in its way", async () => {
  const strict = await serve(project, { "/": "<!doctype html>" }, POLICY.replace(" 'wasm-unsafe-eval'", ""));
  try {
    const page = await browser.newPage();
    await page.goto(strict.origin);
    const load = async (path) => (await import(path)).loadGate().then(() => "loaded", (error) => error.name);
    assert.equal(await page.evaluate(load, IMPORTS["ralph-gate-web"]), "CompileError");
  } finally {
    strict.close();
  }
});

test("nothing is fetched but the package's own files", async () => {
  const page = await browser.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url())));
  await page.goto(server.origin);
  await page.evaluate(async () => {
    const { loadGate } = await import("ralph-gate-web");
    (await loadGate()).digest();
  });
  assert.ok(asked.every(({ origin }) => origin === server.origin));
  const files = asked.map(({ pathname }) => pathname).filter((path) => path.endsWith(".wasm"));
  assert.deepEqual(files, [`${PACKAGE}/dist/gate/gate.wasm`]);
});

test("the page's report of some logs is the command's, byte for byte", async () => {
  const binary = process.env.RALPH_GATE ?? join(PROJECT, "../../debug/ralph-gate");
  const run = (index, arm) => {
    const [ending, truth] = index % 7 === 0 ? ["crashed", "incomplete"] : ["released", index % 3 === 0 && arm === "a" ? "incomplete" : "complete"];
    const data = { id: `${arm}${index}`, task: `t${index}`, labels: { arm }, ending, truth, iterations: 1 + (index % 5), elapsed_ms: 1000 + index * 37, cost_usd: `0.${11 + index}` };
    return JSON.stringify({ event: "imported_run", data });
  };
  const runs = Array.from({ length: 66 }, (_, index) => `${run(index, "a")}\n${run(index, "b")}\n`).join("");
  const logs = [{ name: "night.jsonl", text: LOG }, { name: "runs.jsonl", text: runs }];
  for (const { name, text } of logs) writeFileSync(join(project, name), text);
  const host = (format, ...words) => execFileSync(binary, ["report", ...words, "--format", format, ...logs.map(({ name }) => name)], { cwd: project, encoding: "utf8" });
  const page = await open();
  const [arms, sources, wrong] = await page.evaluate(async (logs) => {
    const { loadHistory } = await import("ralph-gate-web/history");
    const history = await loadHistory();
    return [history.report(logs), history.report(logs, { before: "source=import", after: "source=log" }), history.report(logs.slice(0, 1))];
  }, logs);
  for (const format of ["json", "html"]) {
    assert.ok(arms[format] === host(format, "--before", "arm=a", "--after", "arm=b"), format);
    assert.ok(sources[format] === host(format, "--before", "source=import", "--after", "source=log"), format);
  }
  assert.equal(wrong.error.code, "no_arms");
  assert.match(wrong.error.message, /mode is ralph/);
  assert.deepEqual(page.mistakes, []);
});

test("the page says about a log what the host's command says, byte for byte", async () => {
  const binary = process.env.RALPH_GATE ?? join(PROJECT, "../../debug/ralph-gate");
  const contract = join(project, "other.yaml");
  writeFileSync(contract, "mode: ralph\ncompletion_checks: [work]\nloop_max_iters: 2\n");
  writeFileSync(join(project, "events.jsonl"), LOG);
  const host = (...words) => {
    const text = execFileSync(binary, [...words, "--json", "events.jsonl"], { cwd: project, encoding: "utf8" });
    const [{ log, ...report }] = JSON.parse(text).logs;
    return report;
  };
  const page = await open();
  const [replayed, other] = await page.evaluate(
    async ([text, contract]) => {
      const [{ loadGate }, { loadHistory }] = await Promise.all([import("ralph-gate-web"), import("ralph-gate-web/history")]);
      const [gate, history] = await Promise.all([loadGate(), loadHistory()]);
      return [history.replay(text, gate), history.whatIf(text, contract, gate)];
    },
    [LOG, readFileSync(contract, "utf8")],
  );
  assert.equal(JSON.stringify(replayed), JSON.stringify(host("replay")));
  assert.equal(JSON.stringify(other), JSON.stringify(host("what-if", "--contract", contract)));
  assert.equal(other.other.iteration, 2);
});

test("mistakes of a log, a contract or a gate are answers with an error", async () => {
  const page = await open();
  const answers = await page.evaluate(async (text) => {
    const [{ loadGate }, { loadHistory }] = await Promise.all([import("ralph-gate-web"), import("ralph-gate-web/history")]);
    const [gate, history] = await Promise.all([loadGate(), loadHistory()]);
    const thrower = { call: () => { throw new Error("no gate today"); } };
    return [
      history.readLog("").error.code,
      history.readLog("no log\n").error.code,
      history.whatIf(text, "mode: ralph\nloop_max_iter: 2\n", gate).error.problems[0].line,
      history.whatIf(text, "mode: ralph\ncompletion_token: X\n", thrower).error.message,
      history.replay(text, { call: () => 7 }).not_replayed,
      history.readLog(text.replace('"intercepted":true', '"intercepted":false')).breaks.map(({ kind }) => kind),
    ];
  }, LOG);
  assert.deepEqual(answers, [
    "invalid_log",
    "invalid_log",
    2,
    "the gate gave no answer: no gate today",
    5,
    ["edited"],
  ]);
});
