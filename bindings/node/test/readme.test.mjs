// The examples of the README do what it says.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocks, node, readme, scratch } from "./kit.mjs";

const shown = blocks(readme());

shown.forEach(({ language, text }, index) => {
  if (language !== "js") return;
  test(`example ${index} of the README prints what is written below it`, (context) => {
    const file = join(scratch(context), "example.mjs");
    writeFileSync(file, text);
    const below = shown[index + 1];
    assert.equal(below?.language, "text", "an example is followed by what it prints");
    assert.equal(node(file), below.text);
  });
});

test("there are examples", () => {
  assert.ok(shown.filter((block) => block.language === "js").length >= 2);
});
