// Evaluates N times (1,000,000 unless told) and prints by how much the memory grew, as JSON: `node --expose-gc leak.mjs [N]`.
//
// It looks after a tenth of the way, when everything is compiled and as large as it gets, and at the end. Every tenth
// evaluation is of a session of its own, half of which are closed and half of which are left to the collector.

import { createRequire } from "node:module";
import { join } from "node:path";

const { evaluateFinal, openSession } = createRequire(join(process.cwd(), "package.json"))("ralph-gate");

const COUNT = Number(process.argv[2] ?? 1_000_000);
/** What garbage collection and the allocator leave more or less of. A leak of 100 bytes per evaluation is far above. */
const LIMIT = Math.max(16 << 20, COUNT * 16);
const contract = { mode: "ralph", completion_token: "COMPLETE", completion_checks: ["tests_green"], loop_max_iters: 10000, no_progress_limit: 0 };
const output = "I changed the parser and ran the tests.\n".repeat(25) + "<promise>COMPLETE</promise>";

const iteration = (index) => ({ index, action: "final", output, checks: [{ id: "tests_green", outcome: "fail" }] });

/** Collected twice, with a turn of the event loop between: finalizers run in one. */
async function settled() {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, kept: heapUsed + external };
}

let session;
let index = 0;
let before;
for (let done = 0; done < COUNT; done += 1) {
  if (done === Math.floor(COUNT / 10)) before = await settled();
  if (index % 9_999 === 0) {
    session?.close();
    session = openSession(contract);
    index = 0;
  }
  index += 1;
  if (!session.evaluateFinal(iteration(index)).intercepted) throw new Error("it was let go");
  if (done % 10 === 0) {
    const other = openSession(contract);
    other.evaluateFinal(iteration(1));
    if (done % 20 === 0) other.close();
  }
  if (done % 100 === 0) evaluateFinal(contract, iteration(1));
  // A finalizer needs a turn of the event loop.
  if (done % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
}
const after = await settled();
console.log(JSON.stringify({
  evaluations: COUNT,
  grown_bytes: after.kept - before.kept,
  rss_before: before.rss,
  rss_after: after.rss,
  limit_bytes: LIMIT,
}));
