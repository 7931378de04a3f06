// The verdict: what the page shows is the gate's answer, for every example and wherever a promise stands.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { answer, choose, eventually, examples, here, open, root, vector, write } from "./lib/playground.mjs";

let it;
before(async () => (it = await open({ permissions: ["clipboard-read", "clipboard-write"] })));
after(() => it.close());

const soon = (check) => eventually(it.page, check);
const ruling = ({ decision, stop_reason, detail }) => ({ decision, stop_reason, detail });
const codes = ({ failures }) => failures.map(({ code }) => code);

for (const [id, example] of await examples()) {
  test(`the example ${id} gives the verdict that it states`, async () => {
    await choose(it.page, id);
    const verdict = await answer(it.page);
    assert.deepEqual(ruling(verdict), ruling(example.expect));
    assert.deepEqual(codes(verdict), codes(example.expect));
    assert.deepEqual(await it.page.locator(".failures .code").allTextContents(), codes(example.expect));
    const stated = await it.page.locator(".expected strong").textContent();
    assert.equal(stated, [example.expect.decision, example.expect.stop_reason, example.expect.detail, ...codes(example.expect)].filter(Boolean).join(", "));
  });

  test(`the example ${id} agrees with the vector of its rule`, async () => {
    await choose(it.page, id);
    const verdict = await answer(it.page);
    const [path, number] = example.vector.split("#");
    const { calls } = await vector(path);
    const call = number ? calls[Number(number) - 1] : calls.at(-1);
    if (call.function === "parse_promises") {
      const statuses = ({ tags }) => tags.map(({ status }) => status);
      assert.deepEqual(statuses(verdict.promise), statuses(call.output));
      return;
    }
    assert.equal(call.function, "evaluate_final");
    assert.deepEqual(ruling(verdict), ruling(call.output));
    if (verdict.decision === "continue") assert.deepEqual(codes(verdict), codes(call.output));
  });
}

test("promise tags are marked where they stand, whatever stands before them", async () => {
  await choose(it.page, "completed");
  await write(it.page, "Agent output", "😀 é 中 `<promise>ONE</promise>` 👩‍👩‍👧\n\n<promise>COMPLETE</promise>");
  const marked = (kind) => it.page.locator(`.cm-tag-${kind}`).allTextContents();
  await soon(async () => assert.deepEqual(await marked("refused"), ["<promise>ONE</promise>"]));
  assert.deepEqual(await marked("accepted"), ["<promise>COMPLETE</promise>"]);
  assert.deepEqual(await it.page.locator(".cm-tag-why").allTextContents(), ["refused: in inline code", "accepted"]);
});

test("carriage returns are kept, and tags behind them are still found", async () => {
  await choose(it.page, "completed");
  await write(it.page, "Agent output", "");
  await it.page.evaluate(() => navigator.clipboard.writeText("one\r\ntwo\r\n<promise>COMPLETE</promise>"));
  await it.page.keyboard.press("ControlOrMeta+v");
  await soon(async () => assert.deepEqual(await it.page.locator(".cm-tag-accepted").allTextContents(), ["<promise>COMPLETE</promise>"]));
  assert.equal((await answer(it.page)).promise.tags[0].offset, "one\r\ntwo\r\n".length);
});

test("the feedback is shown as the agent gets it", async () => {
  await choose(it.page, "failing-check");
  const verdict = await answer(it.page);
  assert.notEqual(verdict.feedback, "");
  assert.equal(await it.page.locator(".feedback pre").textContent(), verdict.feedback);
});

test("every guardrail, need and part of the fingerprint is shown", async () => {
  await choose(it.page, "stale-evidence");
  const verdict = await answer(it.page);
  assert.deepEqual(await it.page.locator(".gauge-name").allTextContents(), verdict.counters.guardrails.map(({ name }) => name));
  assert.equal(await it.page.locator(".needs li").count(), verdict.needs.length);
  assert.deepEqual(await it.page.locator(".part-name").allTextContents(), verdict.fingerprint.parts.map(({ name }) => name));
});

test("changing the evidence changes the verdict", async () => {
  await choose(it.page, "failing-check");
  await it.page.getByLabel("Outcome of tests_green").selectOption("pass");
  await soon(async () => assert.equal(await it.page.locator("#verdict").textContent(), "Completed"));
  await it.page.getByRole("tab", { name: /Operator/ }).click();
  await it.page.getByLabel("The loop was canceled").check();
  await soon(async () => assert.equal((await answer(it.page)).stop_reason, "context_canceled"));
  await it.page.getByRole("tab", { name: /Usage/ }).click();
  await it.page.getByLabel("US dollars", { exact: true }).last().fill("0.25");
  await soon(async () => assert.equal((await answer(it.page)).counters.cost_usd, "0.25"));
});

test("the decision table is the one of ARCHITECTURE.md", async () => {
  const text = await readFile(join(root, "ARCHITECTURE.md"), "utf8");
  const rows = [...text.matchAll(/^\| (\d+) \| (.+?) \| (.+?) \| `LOOP_\w+` \|$/gm)].map(([, line, when, stop]) => ({ line: Number(line), when, stop: /^`(\w+)`/.exec(stop)?.[1] ?? null }));
  const table = JSON.parse(await readFile(join(here, "src/decision-table.json"), "utf8"));
  assert.equal(rows.length, 10);
  assert.deepEqual(table.map(({ line, when, is }) => ({ line, when, stop: is.stop_reason })), rows);
});

test("every verdict of the decision vectors is of exactly one line", async () => {
  const table = JSON.parse(await readFile(join(here, "src/decision-table.json"), "utf8"));
  const names = await readdir(join(root, "tests/vectors/decide"));
  const seen = new Set();
  for (const name of names) {
    for (const { output } of (await vector(`decide/${name}`)).calls) {
      if (output.error) continue;
      const lines = table.filter(({ is }) => Object.entries(is).every(([field, value]) => output[field] === value));
      assert.equal(lines.length, 1, `${name}: ${JSON.stringify(ruling(output))}`);
      seen.add(lines[0].line);
    }
  }
  assert.deepEqual([...seen].sort((one, other) => one - other), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("the words that can be chosen are those of the WIT", async () => {
  const wit = await readFile(join(root, "wit/gate.wit"), "utf8");
  const cases = (name) => {
    const [, body] = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(wit);
    return body.replace(/\/\/.*$/gm, "").split(",").map((word) => word.trim().replaceAll("-", "_")).filter(Boolean);
  };
  const words = JSON.parse(await readFile(join(here, "src/words.json"), "utf8"));
  assert.deepEqual(words.actions, cases("action"));
  assert.deepEqual(words.outcomes, cases("outcome"));
  assert.deepEqual(words.kinds, cases("artifact-kind"));
  assert.deepEqual(Object.keys(words.needs), cases("need-kind"));
  assert.deepEqual(words.result_codes.filter((code) => !cases("failure-code").includes(code)), []);
});
