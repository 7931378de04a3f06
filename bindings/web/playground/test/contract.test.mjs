// The contract's editor: what the gate finds wrong is shown where it is, and what may be written is offered.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { answer, eventually, open, write, written } from "./lib/playground.mjs";

let it;
before(async () => (it = await open()));
after(() => it.close());

const soon = (check) => eventually(it.page, check);
const underlined = () => it.page.locator(".cm-lintRange-error").allTextContents();

test("a mistake is underlined where it is, with its line, its column and what was meant", async () => {
  await write(it.page, "Contract", "mode: ralph\ncompletion_token: COMPLETE\nloop_max_iter: 5");
  const problem = it.page.locator(".problem");
  await soon(async () => assert.match(await problem.textContent(), /3:1.*did you mean loop_max_iters/));
  await soon(async () => assert.deepEqual(await underlined(), ["loop_max_iter"]));
  assert.equal(await it.page.locator("#verdict").textContent(), "No verdict");
});

test("a click on a problem leads to its place", async () => {
  await it.page.locator(".problem").click();
  await it.page.keyboard.insertText("loop_max_iters");
  await soon(async () => assert.equal(await it.page.locator(".tone-halt .problem").count(), 0));
  assert.match(await written(it.page, "Contract"), /^loop_max_iters: 5$/m);
  assert.notEqual(await it.page.locator("#verdict").textContent(), "No verdict");
});

test("a place after characters beyond the first plane is found in JSON too", async () => {
  await write(it.page, "Contract", '{ "completion_token": "😀😀", "modee": "ralph" }');
  await soon(async () => assert.deepEqual(await underlined(), ['"modee"']));
});

test("every problem is listed at once", async () => {
  await write(it.page, "Contract", 'mode = "ralf"\nloop_max_iters = 0\nretries = 1');
  await soon(async () => assert.equal(await it.page.locator(".problems.tone-halt .problem").count(), 3));
});

test("a contract that is legal but weak is warned about", async () => {
  await write(it.page, "Contract", "mode: ralph\ncompletion_token: COMPLETE");
  await it.page.locator(".problems.tone-hold .problem").first().waitFor();
  assert.equal((await answer(it.page)).mode, "ralph");
});

for (const [format, begin, typed, result] of [
  ["YAML", "", "enf", "enforcement: "],
  ["JSON", "{ ", '"enf', '{ "enforcement": '],
  ["TOML", 'mode = "ralph"\n', "enf", 'mode = "ralph"\nenforcement = '],
]) {
  test(`a name is completed in ${format}, from the gate's schema`, async () => {
    await write(it.page, "Contract", begin);
    await it.page.keyboard.type(typed);
    const option = it.page.getByRole("option", { name: /enforcement/ });
    await option.waitFor();
    await it.page.locator(".cm-completionInfo", { hasText: "Whether verdicts bind" }).waitFor();
    await option.click();
    await soon(async () => assert.equal(await written(it.page, "Contract"), result));
  });
}

test("a word is completed behind its name, also below a list", async () => {
  await write(it.page, "Contract", "completion_checks:\n  - id: lint\n    on_flaky: ");
  await it.page.keyboard.press("Control+Space");
  const options = it.page.locator(".cm-tooltip-autocomplete li");
  await options.first().waitFor();
  assert.deepEqual(await options.allTextContents(), ["fail", "pass"]);
  await it.page.keyboard.press("Escape");
});

test("Tab leads out of the editor", async () => {
  await it.page.getByRole("textbox", { name: "Contract", exact: true }).click();
  await it.page.keyboard.press("Escape");
  await it.page.keyboard.press("Tab");
  const inside = await it.page.evaluate(() => document.activeElement?.closest(".contract .editor") !== null);
  assert.equal(inside, false);
});
