// Links: the whole page travels in the fragment, and a stranger's fragment can do nothing but show a page.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { answer, choose, eventually, open, visit, write, written } from "./lib/playground.mjs";

let it;
before(async () => (it = await open()));
after(() => it.close());

const soon = (check) => eventually(it.page, check);
const encode = (value) => `1.${deflateRawSync(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url")}`;
const decode = (link) => JSON.parse(inflateRawSync(Buffer.from(link.split("#1.")[1], "base64url")));

async function share() {
  await it.page.getByRole("button", { name: "Share" }).click();
  const link = await it.page.getByLabel("Link").inputValue();
  await it.page.getByRole("button", { name: "Close" }).click();
  return link;
}

test("a link that is opened elsewhere shows the same page", async () => {
  await choose(it.page, "stale-evidence");
  await write(it.page, "Agent output", "😀 done\n<promise>COMPLETE</promise>");
  await it.page.getByRole("slider", { name: "Iteration" }).press("Home");
  await soon(async () => assert.equal(await written(it.page, "Agent output"), "First half done."));
  const before = { verdict: await answer(it.page), contract: await written(it.page, "Contract"), output: await written(it.page, "Agent output") };
  const link = await share();
  await visit(it.page, link);
  assert.deepEqual({ verdict: await answer(it.page), contract: await written(it.page, "Contract"), output: await written(it.page, "Agent output") }, before);
  await it.page.getByRole("slider", { name: "Iteration" }).press("End");
  await soon(async () => assert.equal(await written(it.page, "Agent output"), "😀 done\n<promise>COMPLETE</promise>"));
  assert.equal(await it.page.locator(".notice").count(), 0);
});

test("a link carries the version and the digest of its gate, and says when another one reads it", async () => {
  const page = decode(await share());
  assert.match(page.gate.version, /^\d+\.\d+\.\d+/);
  assert.match(page.gate.digest, /^[0-9a-f]{64}$/);
  await visit(it.page, `${it.url}#${encode({ ...page, gate: { version: "9.9.9", digest: "f".repeat(64) } })}`);
  assert.match(await it.page.locator(".notice").textContent(), /made with gate 9\.9\.9 \(ffffffffffff\)/);
  assert.equal((await answer(it.page)).decision, "continue");
});

test("a page that is too large for a link says so", async () => {
  await choose(it.page, "completed");
  const noise = Array.from({ length: 40_000 }, (_, index) => ((index * 2_654_435_761) >>> 0).toString(36)).join(" ");
  await write(it.page, "Agent output", noise);
  await it.page.getByRole("button", { name: "Share" }).click();
  assert.match(await it.page.getByRole("alert").textContent(), /is the most that travels well/);
});

const fine = { gate: { version: "0", digest: "0" }, contract: "mode: ralph", pinned: null, iterations: [], at: 0, example: null, log: null };
const iteration = { action: "final", output: "", checks: [], artifacts: [], tool_outputs: [], tampered: [], usage: {} };

const HOSTILE = {
  "no fragment of this page": "hello",
  "not base64": "1.<script>alert(1)</script>",
  "cut off": "1.q",
  "not compressed": `1.${Buffer.from("hello, this is no deflate stream").toString("base64url")}`,
  "not JSON": encode("not JSON"),
  "not UTF-8": `1.${deflateRawSync(Buffer.from([0x22, 0xff, 0xfe, 0x22])).toString("base64url")}`,
  "a bomb": encode(`"${"0".repeat(40_000_000)}"`),
  "a list": encode([1, 2, 3]),
  "null": encode(null),
  "no iteration": encode(fine),
  "an iteration that is a number": encode({ ...fine, iterations: [7] }),
  "a contract that is an object": encode({ ...fine, contract: { toString: "x" }, iterations: [iteration] }),
  "checks that are a text": encode({ ...fine, iterations: [{ ...iteration, checks: "pass" }] }),
  "a check without an id": encode({ ...fine, iterations: [{ ...iteration, checks: [{ outcome: "pass" }] }] }),
  "a negative iteration": encode({ ...fine, iterations: [iteration], at: -1 }),
  "an iteration that is not there": encode({ ...fine, iterations: [iteration], at: 5 }),
  "a fraction": encode({ ...fine, iterations: [iteration], at: 0.5 }),
  "too many iterations": encode({ ...fine, iterations: Array.from({ length: 3000 }, () => iteration) }),
  "a log that is none": encode({ ...fine, log: { name: "events.jsonl", text: "nothing" } }),
  "a form of the future": `2.${encode(fine).slice(2)}`,
  "a prototype": encode(`{"__proto__": {"contract": "x"}, "gate": {"version": "0", "digest": "0"}}`),
};

for (const [name, fragment] of Object.entries(HOSTILE)) {
  test(`a hostile fragment gives a message and an empty page: ${name}`, async () => {
    await visit(it.page, `${it.url}#${fragment}`);
    assert.match(await it.page.getByRole("alert").textContent(), /link|log/);
    assert.equal(await written(it.page, "Contract"), "");
    assert.equal(await written(it.page, "Agent output"), "");
  });
}

test("markup in a link is text", async () => {
  const markup = '<img src=x onerror="document.title=1">';
  const shared = { ...fine, contract: markup, iterations: [{ ...iteration, output: markup, checks: [{ id: markup, outcome: markup, reason: markup }] }] };
  await visit(it.page, `${it.url}#${encode(shared)}`);
  assert.equal(await written(it.page, "Contract"), markup);
  assert.equal(await it.page.locator("img").count(), 0);
});
