// How the page looks and feels: for every person, on every screen, small over the wire. Writes the pictures of the README.

import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { answer, choose, drop, eventually, here, open, root, site, visit, write, written } from "./lib/playground.mjs";

/** The most that the first load may bring, compressed, without WebAssembly. */
const BUDGET = 300 * 1024;
/** The most that a picture may have. */
const MOST_PICTURE = 200 * 1024;
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

let it;
before(async () => (it = await open({ reducedMotion: "reduce" })));
after(() => it.close());

const soon = (check) => eventually(it.page, check);
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function show(theme, size) {
  await it.page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await it.page.setViewportSize(size);
  await visit(it.page, it.url);
}

async function pick(id) {
  const narrow = it.page.getByRole("button", { name: "Examples" });
  if (await narrow.isVisible()) await narrow.click();
  await choose(it.page, id);
}

/** What axe finds that is serious or worse. */
async function violations() {
  // Through the debugger: the page itself lets no stranger's script in.
  await it.page.evaluate(`${axe}; void 0`);
  const found = await it.page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`));
}

test("the first load stays within its budget", async () => {
  const { page } = it;
  const loaded = new Set();
  page.on("response", (response) => loaded.add(new URL(response.url()).pathname));
  await visit(page, it.url);
  const names = [...loaded].map((path) => path.replace("/some/where/", "") || "index.html");
  assert.ok(names.some((name) => name.endsWith(".wasm")), "the gate is loaded");
  assert.ok(!names.some((name) => name.includes("bindgen") || name.includes("transpile") || name.includes("history")), "what few need is not loaded");
  let size = 0;
  for (const name of names.filter((name) => !name.endsWith(".wasm"))) size += gzipSync(await readFile(join(site, name))).length;
  console.log(`    first load: ${Math.ceil(size / 1024)} of ${BUDGET / 1024} KB compressed, without WebAssembly`);
  assert.ok(size <= BUDGET, `${size} bytes`);
});

for (const theme of ["light", "dark"]) {
  for (const [name, size] of [["desktop", DESKTOP], ["phone", PHONE]]) {
    test(`axe finds nothing serious: ${theme}, ${name}`, async () => {
      await show(theme, size);
      assert.deepEqual(await violations(), []);
      await pick("stale-evidence");
      assert.deepEqual(await violations(), []);
      await it.page.getByRole("tab", { name: /Artifacts/ }).click();
      await it.page.locator(".when summary").click();
      await it.page.locator(".raw summary").click();
      assert.deepEqual(await violations(), []);
      await it.page.getByRole("tab", { name: /Policy/ }).click();
      await it.page.getByRole("button", { name: "Share" }).click();
      await it.page.getByLabel("Link").waitFor();
      assert.deepEqual(await violations(), []);
    });
  }
}

test("nothing is wider than a phone", async () => {
  await show("light", PHONE);
  for (const id of ["code-fence", "stale-evidence", "oscillation", "out-of-fuel"]) {
    await pick(id);
    const [wide, screen] = await it.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.equal(wide, screen, id);
  }
});

test("everything is reached with the keyboard, and shows where it is", async () => {
  await show("light", DESKTOP);
  const wanted = await it.page.evaluate(() => {
    const focusable = 'a[href], button, input:not([type="radio"]), select, textarea, summary, [tabindex="0"]';
    const visible = (element) => element.tabIndex >= 0 && element.checkVisibility() && !element.disabled;
    return [...document.querySelectorAll(focusable)].filter(visible).length;
  });
  await it.page.evaluate(() => {
    window.reached = new Set();
  });
  const blind = [];
  for (let press = 0; press < wanted + 20; press++) {
    await it.page.keyboard.press("Tab");
    const lost = await it.page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      window.reached.add(element);
      const inner = element.shadowRoot?.querySelector(".cm-editor") ?? (element.matches('input[type="radio"]') ? element.nextElementSibling : element);
      const { outlineStyle, outlineWidth } = getComputedStyle(inner);
      return outlineStyle === "none" || outlineWidth === "0px" ? element.outerHTML.slice(0, 120) : null;
    });
    if (lost) blind.push(lost);
  }
  const missed = await it.page.evaluate(() => {
    const focusable = 'a[href], button, input:not([type="radio"]), select, textarea, summary, [tabindex="0"]';
    const visible = (element) => element.tabIndex >= 0 && element.checkVisibility() && !element.disabled;
    return [...document.querySelectorAll(focusable)].filter((element) => visible(element) && !window.reached.has(element)).map((element) => element.outerHTML.slice(0, 120));
  });
  assert.deepEqual(missed, []);
  assert.deepEqual(blind, []);
});

test("an example is chosen and a loop stepped without a mouse", async () => {
  await show("light", DESKTOP);
  await it.page.locator('[data-example="failing-check"]').focus();
  await it.page.keyboard.press("Enter");
  await soon(async () => assert.equal((await answer(it.page)).failures[0].code, "check_failed"));
  await it.page.getByRole("button", { name: "Next iteration" }).focus();
  await it.page.keyboard.press("Enter");
  await soon(async () => assert.equal((await answer(it.page)).counters.iteration, 2));
  await it.page.getByRole("tab", { name: /Checks/ }).focus();
  await it.page.keyboard.press("ArrowRight");
  await it.page.getByRole("button", { name: "Add artifact" }).waitFor();
});

test("light and dark follow the system until somebody chooses", async () => {
  const background = () => it.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await show("light", DESKTOP);
  const light = await background();
  await it.page.emulateMedia({ colorScheme: "dark" });
  await soon(async () => assert.notEqual(await background(), light));
  await it.page.getByRole("button", { name: "Use the light theme" }).click();
  await soon(async () => assert.equal(await background(), light));
  await visit(it.page, it.url);
  assert.equal(await background(), light, "the choice is remembered");
  await it.page.evaluate(() => localStorage.clear());
});

test("nothing moves for those who prefer that", async () => {
  await show("light", DESKTOP);
  const moving = () => it.page.evaluate(() => [...document.querySelectorAll("*")].filter((element) => getComputedStyle(element).transitionDuration !== "0s").length);
  assert.equal(await moving(), 0);
  await it.page.emulateMedia({ reducedMotion: "no-preference" });
  assert.ok((await moving()) > 0);
});

test("an export is a vector, byte for byte the one that every host runs", async () => {
  await show("light", DESKTOP);
  await pick("stale-evidence");
  await it.page.getByRole("button", { name: "Export" }).click();
  await it.page.getByLabel("Rule, in words").fill("evidence of an earlier iteration does not prove the work of this one");
  const exported = await it.page.getByLabel("Vector", { exact: true }).textContent();
  const path = join(root, "tests/vectors/playground/exported.json");
  if (process.env.BLESS) {
    await mkdir(join(root, "tests/vectors/playground"), { recursive: true });
    await writeFile(path, exported);
  }
  assert.equal(exported, await readFile(path, "utf8"));
  const [saved] = await Promise.all([it.page.waitForEvent("download"), it.page.getByRole("button", { name: "Save as a file" }).click()]);
  assert.equal(saved.suggestedFilename(), "evidence-of-an-earlier-iteration-does-not-prove-the-work-of-this-one.json");
  assert.equal(await readFile(await saved.path(), "utf8"), exported);
});

test("the pictures of the README can be taken", async () => {
  const folder = process.env.BLESS ? join(here, "docs") : join(process.env.RALPH_GATE_PICTURES ?? site, "../pictures");
  await mkdir(folder, { recursive: true });
  for (const theme of ["light", "dark"]) {
    for (const [name, size] of [["desktop", DESKTOP], ["phone", PHONE]]) {
      await show(theme, size);
      await pick(name === "desktop" ? "no-progress" : "code-fence");
      await it.page.mouse.move(0, 0);
      await it.page.evaluate(() => document.activeElement?.blur());
      if (name === "phone") await it.page.locator(".summary-bar").click();
      const path = join(folder, `${name}-${theme}.png`);
      await it.page.screenshot({ path, caret: "initial" });
      assert.ok((await stat(path)).size <= MOST_PICTURE, path);
    }
  }
  await show("light", DESKTOP);
  await drop(it.page, "events.jsonl", await readFile(join(here, "test/fixtures/events.jsonl")));
  await it.page.getByText("The chain of events").waitFor();
  const contract = await written(it.page, "Contract");
  await write(it.page, "Contract", contract.replace(/"no_progress_limit": \d+/, '"no_progress_limit": 2'));
  await soon(async () => assert.match(await it.page.locator(".timeline-what").textContent(), /decisions? changes? of/));
  await it.page.getByRole("slider", { name: "Iteration" }).press("End");
  await it.page.getByRole("slider", { name: "Iteration" }).press("ArrowLeft");
  await it.page.evaluate(() => document.activeElement?.blur());
  const path = join(folder, "timeline.png");
  await it.page.screenshot({ path, caret: "initial", clip: { x: 0, y: 0, width: 1280, height: 720 } });
  assert.ok((await stat(path)).size <= MOST_PICTURE, path);
  assert.deepEqual((await readdir(join(here, "docs"))).filter((name) => name.endsWith(".png")).sort(), ["desktop-dark.png", "desktop-light.png", "phone-dark.png", "phone-light.png", "timeline.png"]);
});
