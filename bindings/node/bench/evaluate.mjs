// An evaluation in Node, by the size of the output, in microseconds: prints `{"1KiB": …, "64KiB": …}`.
//
// Started in a project that has the package: `node evaluate.mjs [milliseconds for each size]`.

import { createRequire } from "node:module";
import { join } from "node:path";
import { CONTRACT, report } from "./text.mjs";

const { openSession } = createRequire(join(process.cwd(), "package.json"))("ralph-gate");

function prepare(output) {
  let session;
  let index = 0;
  return () => {
    // A loop is at most 10,000 iterations long; then a new one begins.
    if (index % 9_999 === 0) {
      session?.close();
      session = openSession(CONTRACT);
      index = 0;
    }
    index += 1;
    const verdict = session.evaluateFinal({ index, action: "final", output, checks: [{ id: "tests_green", outcome: "fail" }] });
    if (!verdict.intercepted) throw new Error("it was let go");
  };
}

console.log(JSON.stringify(report(prepare)));
