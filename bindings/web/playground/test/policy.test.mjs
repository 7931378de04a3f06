// Policies from strangers: they judge, and whatever else they do stays in their cell.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { parse } from "@bytecodealliance/jco-transpile/wasm-tools";
import { answer, choose, drop, eventually, open } from "./lib/playground.mjs";
import { policy } from "./lib/policies.mjs";

let it;
before(async () => {
  assert.ok(process.env.RALPH_GATE_COMPONENT, "RALPH_GATE_COMPONENT names the gate's component; `cargo xtask` does that");
  it = await open();
});
after(() => it.close());

const result = () => it.page.locator(".policy .answer");

/** Drops a policy and waits for what comes of it. */
async function judged(name, bytes) {
  await drop(it.page, `${name}.wasm`, bytes);
  await it.page.getByText("Taking it apart").waitFor();
  await it.page.getByText("Taking it apart").waitFor({ state: "detached" });
  await result().waitFor();
  return result().textContent();
}

test("a policy that is dropped describes itself and judges the iteration", async () => {
  await choose(it.page, "completed");
  assert.equal(await judged("passing", await policy("passing")), "pass");
  assert.match(await it.page.locator(".described").textContent(), /says-hello 1\.0\.0 Says what it was built\./);
  assert.deepEqual(await it.page.locator(".described li").allTextContents(), ["everything is fine"]);
});

test("what a policy found can be used as evidence", async () => {
  await it.page.getByRole("button", { name: "Use it as a check result" }).click();
  await eventually(it.page, async () => assert.deepEqual((await answer(it.page)).unused_checks, ["says-hello"]));
});

test("control characters of a reason are shown, not obeyed", async () => {
  assert.equal(await judged("hidden", await policy("hidden")), "fail");
  assert.deepEqual(await it.page.locator(".described li").allTextContents(), ["\\u{1b}[31mred\\u{7} \\u{202e}sdrawkcab"]);
});

test("of thousands of reasons a few are shown", async () => {
  assert.equal(await judged("many-reasons", await policy("many-reasons")), "unknown");
  assert.equal(await it.page.locator(".described li").count(), 17);
  assert.match(await it.page.locator(".described li").last().textContent(), /and 6896 more/);
});

test("a policy that traps is told from one that fails", async () => {
  assert.match(await judged("trapping", await policy("trapping")), /^It trapped: .*unreachable/);
});

for (const name of ["endless", "endless-start"]) {
  test(`a policy that never answers is ended, and the page stays responsive: ${name}`, async () => {
    await choose(it.page, "completed");
    await it.page.evaluate(() => {
      window.ticks = 0;
      window.clock = setInterval(() => window.ticks++, 50);
    });
    await drop(it.page, `${name}.wasm`, await policy(name));
    await it.page.getByText("Running …").waitFor();
    const before = await it.page.evaluate(() => window.ticks);
    // While it runs, the page answers as ever.
    await choose(it.page, "failing-check");
    assert.equal(await it.page.locator("#verdict").textContent(), "Not done");
    assert.equal(await it.page.getByText("Running …").count(), 1, "the policy is still running");
    await result().waitFor();
    assert.match(await result().textContent(), /^It was ended: no answer within 2 seconds/);
    const during = (await it.page.evaluate(() => (clearInterval(window.clock), window.ticks))) - before;
    assert.ok(during >= 10, `the page's timer ran ${during} times in two seconds`);
    await eventually(it.page, async () => assert.equal(await it.page.locator("iframe").count(), 0));
  });
}

test("what is no policy is refused, and says why", async () => {
  assert.match(await judged("garbage", Buffer.from("hello")), /garbage\.wasm is no component/);
  assert.match(await judged("module", await parse("(module)")), /module\.wasm is no component/);
  assert.match(await judged("gate", await readFile(process.env.RALPH_GATE_COMPONENT)), /gate\.wasm is a component, but no policy/);
});

test("a policy that wants more than its artifacts is not run", async () => {
  const greedy = await parse(`(component
    (import "wasi:random/random@0.2.0" (instance $random (export "get-random-u64" (func (result u64)))))
    (core func $get (canon lower (func $random "get-random-u64")))
    (core module $m (import "random" "get" (func (result i64))) (func (export "roll") (result i64) (call 0)))
    (core instance $i (instantiate $m (with "random" (instance (export "get" (func $get))))))
    (func (export "roll") (result u64) (canon lift (core func $i "roll"))))`);
  assert.match(await judged("greedy", greedy), /imports wasi:random\/random.*it was not run/);
});

test("fuel is said not to be metered here", async () => {
  assert.match(await it.page.locator(".policy").textContent(), /Fuel is not metered/);
});

test("what runs in the cell reaches neither the network nor the page", async () => {
  const tries = await it.page.evaluate(() => new Promise((resolve) => {
    const code = `addEventListener("message", async ({ data }) => {
      const refused = (attempt) => attempt().then(() => "allowed", () => "refused");
      postMessage({
        origin: self.origin,
        fetch: await refused(() => fetch(data.url)),
        module: await refused(() => import(data.url + "icon.svg")),
        database: await refused(() => new Promise((yes, no) => { const asked = indexedDB.open("x"); asked.onsuccess = yes; asked.onerror = no; })),
        evaluate: await refused(async () => new Function("return 1")()),
      });
    });`;
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    addEventListener("message", ({ data, source }) => {
      if (source !== frame.contentWindow) return;
      if (data.kind === "ready") return frame.contentWindow.postMessage({ kind: "run", code, limit: 10_000, given: { url: document.baseURI } }, "*");
      frame.remove();
      resolve(data.answer);
    });
    frame.src = "./cell.html";
    document.body.append(frame);
  }));
  assert.deepEqual(tries, { origin: "null", fetch: "refused", module: "refused", database: "refused", evaluate: "refused" });
  // The browser says of each that it was refused: that is what was asked for.
  it.errors.length = 0;
});
