// Many evaluations take no more memory than few. `cargo xtask bench leak` does the same a million times.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, node } from "./kit.mjs";

test("20,000 evaluations and 2,000 sessions keep nothing", () => {
  const leak = join(ROOT, "bindings/node/bench/leak.mjs");
  const { grown_bytes, limit_bytes } = JSON.parse(node("--expose-gc", leak, "20000"));
  assert.ok(grown_bytes < limit_bytes, `${grown_bytes} bytes more, ${limit_bytes} are allowed`);
});
