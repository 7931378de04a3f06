// Several logs, or one with many runs: the page shows the report that the command writes, byte for byte.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { dropAll, dropPaths, eventually, open, root, visit } from "./lib/playground.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** A real log: refused, and in the end complete. */
const LOG = await readFile(join(root, "host/history/testdata/events.jsonl"), "utf8");
const RUNS = runs();
/** With one that somebody edited, and one that was cut off. */
const FILES = [
  ["night.jsonl", LOG],
  ["damaged.jsonl", LOG.replace('"action":"final"', '"action":"resume"')],
  ["half.jsonl", LOG.split("\n").slice(0, 5).join("\n")],
  ["runs.jsonl", RUNS],
];

const command = process.env.RALPH_GATE;
const skip = command ? false : "RALPH_GATE names no ralph-gate";

let it;
let folder;
before(async () => {
  it = await open({ reducedMotion: "reduce" });
  folder = await mkdtemp(join(tmpdir(), "compare-"));
  for (const [name, text] of FILES) await writeFile(join(folder, name), text);
});
after(async () => {
  await it.close();
  await rm(folder, { recursive: true, force: true });
});

/** Imported runs in two arms and three classes, with odd amounts and names that mean harm; the same at each call. */
function runs() {
  let state = 7;
  const below = (most) => (state = (state * 48271) % 2147483647) % most;
  const classes = ["bugfix", "</script><img src=x onerror=alert(1)>", null];
  const lines = [];
  for (let task = 0; task < 70; task++) {
    for (const arm of ["standard", "ralph"]) {
      const is = arm === "ralph";
      const data = {
        id: `${arm}/${task}${task === 3 ? "\u202e\u001b[2J|`x`" : ""}`,
        task: `task-${task}`,
        task_class: classes[task % 3],
        labels: { arm },
        started_at_ms: 1_767_225_600_000 + task,
        ending: below(10) === 0 ? "crashed" : is && below(5) === 0 ? "max_iters" : "released",
        truth: below(20) === 0 ? "unknown" : below(is ? 20 : 3) === 0 ? "incomplete" : "complete",
        iterations: 1 + below(is ? 9 : 6),
        elapsed_ms: below(9) === 0 ? null : 1000 + below(500_000),
        tool_calls: below(60),
        tokens: below(90_000),
        cost_usd: below(7) === 0 ? null : `0.${String(1000 + below(8999))}`,
      };
      lines.push(JSON.stringify({ event: "imported_run", data }));
    }
  }
  return `${lines.join("\n")}\n`;
}

const dialog = () => it.page.getByRole("dialog", { name: /^Report of / });
const frame = () => it.page.frameLocator("iframe.report");
const arm = (name) => dialog().getByLabel(name, { exact: true });

async function compared(before, after) {
  await frame().getByRole("heading", { level: 1 }).waitFor();
  await eventually(it.page, async () => assert.deepEqual([await arm("Before").inputValue(), await arm("After").inputValue()], [before, after]));
}

async function saved(button) {
  const [file] = await Promise.all([it.page.waitForEvent("download"), dialog().getByRole("button", { name: button }).click()]);
  return readFile(await file.path(), "utf8");
}

/** What the command prints about files of a folder, without any settings. */
async function printed(format, before, after, files) {
  const args = ["report", "--format", format, "--by", "task_class", "--before", before, "--after", after, ...files];
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, maxBuffer: 1 << 28 });
  return stdout;
}

test("one log with many runs is a report, of the arms that it suggests", async () => {
  await visit(it.page, it.url);
  await dropAll(it.page, [["runs.jsonl", RUNS]]);
  await compared("arm=standard", "arm=ralph");
  assert.match(await frame().getByRole("heading", { level: 1 }).textContent(), /Default on|Keep opt-in|Not enough data/);
  await frame().getByRole("img", { name: /^False complete: / }).first().waitFor();
});

test("the report is byte for byte what the command writes", { skip }, async () => {
  assert.ok((await saved("Save as JSON")) === (await printed("json", "arm=standard", "arm=ralph", ["runs.jsonl"])));
  assert.ok((await saved("Save as a page")) === (await printed("html", "arm=standard", "arm=ralph", ["runs.jsonl"])));
});

test("several logs are a report, of other arms too", async () => {
  await visit(it.page, it.url);
  await dropAll(it.page, FILES);
  await compared("arm=standard", "arm=ralph");
  await arm("Before").fill("source=import");
  await arm("After").fill("source=log");
  await dialog().getByRole("button", { name: "Compare" }).click();
  await eventually(it.page, async () => assert.match(await frame().locator(".facts .after").textContent(), /source=log3 runs/));
});

test("also that of damaged logs is byte for byte what the command writes", { skip }, async () => {
  const names = FILES.map(([name]) => name);
  assert.ok((await saved("Save as JSON")) === (await printed("json", "source=import", "source=log", names)));
});

test("what makes no sense is said, and can be corrected", async () => {
  await arm("Before").fill("arm=nobody");
  await dialog().getByRole("button", { name: "Compare" }).click();
  await dialog().getByRole("alert").filter({ hasText: "arm=nobody has no run" }).waitFor();
  assert.equal(await it.page.locator("iframe.report").count(), 0);
  await arm("Before").fill("arm=standard");
  await arm("Before").press("Enter");
  await frame().getByRole("heading", { level: 1 }).waitFor();
  assert.equal(await dialog().getByRole("alert").count(), 0);
});

test("the frame can run nothing, and names in it are names", async () => {
  await visit(it.page, it.url);
  await dropAll(it.page, [["runs.jsonl", RUNS]]);
  await compared("arm=standard", "arm=ralph");
  assert.equal(await it.page.locator("iframe.report").getAttribute("sandbox"), "");
  assert.equal(await frame().locator("img").count(), 0);
  assert.ok((await frame().getByText("</script><img src=x onerror=alert(1)>").count()) > 0);
  assert.ok((await frame().getByText("3\\u{202e}\\u{1b}[2J|`x`").count()) > 0);
});

test("the report has its style, and the theme of the page around it", async () => {
  const background = () => frame().locator("body").evaluate((body) => getComputedStyle(body).backgroundColor);
  await it.page.emulateMedia({ colorScheme: "light" });
  await eventually(it.page, async () => assert.equal(await background(), "rgb(251, 251, 249)"));
  await it.page.emulateMedia({ colorScheme: "dark" });
  await eventually(it.page, async () => assert.equal(await background(), "rgb(20, 21, 23)"));
  await it.page.emulateMedia({ colorScheme: "light" });
});

for (const [name, size] of [["desktop", { width: 1280, height: 800 }], ["phone", { width: 390, height: 844 }]]) {
  test(`axe finds nothing serious around the report, and nothing is too wide: ${name}`, async () => {
    await it.page.setViewportSize(size);
    await it.page.evaluate(`${axe}; void 0`);
    const found = await it.page.evaluate(() => window.axe.run(document, { iframes: false, resultTypes: ["violations"] }));
    const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    assert.deepEqual(serious.map(({ id, nodes }) => `${id} ${nodes[0].target}`), []);
    const wide = await it.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0);
    const inside = await frame().locator("html").evaluate((html) => html.scrollWidth - html.clientWidth);
    assert.equal(inside, 0);
  });
}

test("the report is closed with the keyboard, and the page is as it was", async () => {
  await it.page.setViewportSize({ width: 1280, height: 800 });
  await it.page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
  await it.page.locator("#verdict").waitFor();
});

test("a folder that is dropped is every session's log in it", async () => {
  await visit(it.page, it.url);
  const sessions = join(folder, ".ralph");
  for (const name of ["one", "deep/two"]) {
    await mkdir(join(sessions, name, "checkpoints"), { recursive: true });
    await writeFile(join(sessions, name, "events.jsonl"), LOG);
    await writeFile(join(sessions, name, "progress.txt"), "nothing");
  }
  await cp(join(folder, "runs.jsonl"), join(sessions, "runs.jsonl"));
  await dropPaths(it.page, [sessions]);
  await dialog().waitFor();
  assert.match(await dialog().getByRole("heading").textContent(), /Report of 2 logs/);
  await dialog().getByRole("alert").filter({ hasText: "name two arms" }).waitFor();
  // Both are logs of one session, told apart.
  await arm("Before").fill("id=history");
  await arm("After").fill("id=history (2)");
  await arm("After").press("Enter");
  await frame().getByRole("heading", { level: 1 }).waitFor();
});

test("one log alone is the timeline, also out of a folder", async () => {
  await visit(it.page, it.url);
  const session = join(folder, "alone");
  await mkdir(session, { recursive: true });
  await writeFile(join(session, "events.jsonl"), LOG);
  await dropPaths(it.page, [session]);
  await it.page.getByText("The chain of events").waitFor();
  assert.equal(await dialog().count(), 0);
});
