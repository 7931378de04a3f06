// The timeline: loops that are stepped by hand, real logs, and what another contract would have decided.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { answer, choose, drop, eventually, open, visit, write, written } from "./lib/playground.mjs";

let it;
before(async () => (it = await open()));
after(() => it.close());

const here = import.meta.dirname;
const fixture = join(here, "fixtures/events.jsonl");
const soon = (check) => eventually(it.page, check);
const slider = () => it.page.getByRole("slider", { name: "Iteration" });
const at = () => slider().getAttribute("aria-valuetext");
const bars = () => it.page.locator(".cell .bar:not(.other)").evaluateAll((bars) => bars.map((bar) => /tone-(\w+)/.exec(bar.className)[1]));
const next = () => it.page.getByRole("button", { name: "Next iteration" }).click();

const CONTRACT = "mode: ralph\ncompletion_token: COMPLETE\ncompletion_checks: [tests_green]\nno_progress_limit: 3";

test("a loop is stepped by hand, each iteration with the snapshot of the one before", async () => {
  await it.page.getByRole("button", { name: "New" }).click();
  await write(it.page, "Contract", CONTRACT);
  await write(it.page, "Agent output", "Still working.");
  await next();
  await soon(async () => assert.equal((await answer(it.page)).counters.iteration, 2));
  await next();
  await soon(async () => assert.deepEqual(await bars(), ["hold", "hold", "halt"]));
  assert.equal((await answer(it.page)).stop_reason, "no_progress");
  assert.equal((await answer(it.page)).fingerprint.equal_in_a_row, 3);
  assert.equal(await it.page.getByRole("button", { name: "Next iteration" }).count(), 0, "a loop that stopped goes no further");
});

test("a loop is scrubbed with the keyboard", async () => {
  await slider().focus();
  for (const [key, iteration] of [["Home", 1], ["ArrowRight", 2], ["ArrowRight", 3], ["ArrowRight", 3], ["ArrowLeft", 2], ["End", 3]]) {
    await it.page.keyboard.press(key);
    await soon(async () => assert.match(await at(), new RegExp(`^Iteration ${iteration} of 3`)));
    assert.equal((await answer(it.page)).counters.iteration, iteration);
  }
});

test("a loop is scrubbed with the mouse", async () => {
  const boxes = await Promise.all([0, 1, 2].map((index) => it.page.locator(".cell").nth(index).boundingBox()));
  const middle = ({ x, y, width }) => [x + width / 2, y + 8];
  await it.page.mouse.move(...middle(boxes[2]));
  await it.page.mouse.down();
  for (const index of [1, 0]) {
    await it.page.mouse.move(...middle(boxes[index]));
    await soon(async () => assert.match(await at(), new RegExp(`^Iteration ${index + 1} of 3`)));
  }
  await it.page.mouse.up();
});

test("another contract shows which decisions change, and can be put back", async () => {
  await write(it.page, "Contract", CONTRACT.replace("3", "2"));
  await soon(async () => assert.match(await it.page.locator(".timeline-what").textContent(), /2 decisions change of 3/));
  await slider().press("End");
  await soon(async () => assert.equal(await it.page.locator("#verdict").textContent(), "Not reached"));
  await slider().press("ArrowLeft");
  await soon(async () => assert.match(await it.page.locator(".was").textContent(), /It was continue/));
  assert.equal((await answer(it.page)).stop_reason, "no_progress");
  await it.page.getByRole("button", { name: "Put the contract back" }).click();
  await soon(async () => assert.equal(await it.page.locator(".bar.other").count(), 0));
  assert.equal(await written(it.page, "Contract"), CONTRACT);
});

test("layout alone is no other contract", async () => {
  await write(it.page, "Contract", `# the same\n${CONTRACT}\n`);
  await soon(async () => assert.match(await written(it.page, "Contract"), /# the same/));
  assert.match(await it.page.locator(".timeline-what").textContent(), /^Iteration 2 of 3$/);
});

test("an iteration in the middle can be changed, and what follows is decided anew", async () => {
  await write(it.page, "Agent output", "Something else.");
  await soon(async () => assert.deepEqual(await bars(), ["hold", "hold", "hold"]));
});

async function showLog(path) {
  await it.page.getByLabel("Event log").setInputFiles(path);
  await it.page.getByText("The chain of events").waitFor();
}

test("a recorded log is shown with its contract, its iterations and its verdicts", async () => {
  const lines = (await readFile(fixture, "utf8")).trim().split("\n").map((line) => JSON.parse(line));
  const verdicts = lines.filter(({ event }) => event === "verdict").map(({ data }) => data.verdict);
  await showLog(fixture);
  assert.match(await it.page.locator(".timeline-note").first().textContent(), /is whole; every verdict was reproduced byte for byte/);
  assert.equal(await slider().getAttribute("aria-valuemax"), String(verdicts.length));
  for (const verdict of verdicts) {
    await soon(async () => assert.deepEqual(await answer(it.page), verdict));
    await slider().press("ArrowRight");
  }
});

test("a log can't be written to", async () => {
  await slider().press("Home");
  const before = await written(it.page, "Agent output");
  await it.page.getByRole("textbox", { name: "Agent output" }).click();
  await it.page.keyboard.insertText("more");
  assert.equal(await written(it.page, "Agent output"), before);
  assert.equal(await it.page.getByLabel("Outcome of tests_green").isDisabled(), true);
});

test("another contract shows which past decisions of a log change, and what it saves", async () => {
  const contract = await written(it.page, "Contract");
  await write(it.page, "Contract", contract.replace(/"loop_max_iters": \d+/, '"loop_max_iters": 2'));
  await soon(async () => assert.match(await it.page.locator(".timeline-what").textContent(), /decisions? changes? of/));
  // Before the first iteration is that of the checks without the agent.
  await slider().press("Home");
  await slider().press("ArrowRight");
  await slider().press("ArrowRight");
  await soon(async () => assert.equal((await answer(it.page)).stop_reason, "max_iters"));
  assert.match(await it.page.locator(".was").textContent(), /It was continue/);
  await slider().press("End");
  await soon(async () => assert.equal(await it.page.locator("#verdict").textContent(), "Not reached"));
});

test("a link carries a log", async () => {
  await it.page.getByRole("button", { name: "Share" }).click();
  const link = await it.page.getByLabel("Link").inputValue();
  await visit(it.page, link);
  await it.page.getByText("The chain of events").waitFor();
  assert.match(await it.page.locator(".timeline-what").textContent(), /decisions? changes? of/);
});

test("a copy of a log can be changed", async () => {
  await it.page.getByRole("button", { name: "Put the contract back" }).click();
  await it.page.getByRole("button", { name: "Edit a copy" }).click();
  await slider().press("Home");
  await slider().press("ArrowRight");
  await write(it.page, "Agent output", "I am stuck.\n<promise>LOOP_BLOCKED</promise>");
  await soon(async () => assert.equal((await answer(it.page)).stop_reason, "blocked"));
});

test("a log that was edited says where", async () => {
  const text = await readFile(fixture, "utf8");
  const edited = text.replace('"outcome":"fail"', '"outcome":"pass"');
  assert.notEqual(edited, text);
  await drop(it.page, "edited.jsonl", Buffer.from(edited));
  assert.match(await it.page.getByRole("alert").textContent(), /not what was written: line \d+/);
});

test("what is no log says so, and leaves the page as it was", async () => {
  await choose(it.page, "completed");
  await drop(it.page, "notes.txt", Buffer.from("hello\nworld\n"));
  assert.match(await it.page.getByRole("alert").textContent(), /notes\.txt is no event log/);
  assert.equal(await it.page.locator("#verdict").textContent(), "Completed");
});

// The command under test; `cargo xtask` names it.
const gate = process.env.RALPH_GATE;
test("a log that the command writes on the spot is shown", { skip: gate ? false : "RALPH_GATE names no ralph-gate" }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "playground-loop-"));
  try {
    await promisify(execFile)("sh", [join(here, "fixtures/record.sh"), gate, folder]);
    await showLog(join(folder, "events.jsonl"));
    assert.match(await it.page.locator(".timeline-note").first().textContent(), /is whole; every verdict was reproduced byte for byte/);
    await slider().press("End");
    await soon(async () => assert.equal(await it.page.locator("#verdict").textContent(), "Completed"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
