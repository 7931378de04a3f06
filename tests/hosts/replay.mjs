// Replays logs with the package as it is installed: their paths on standard input, one a line. Prints one line of JSON per log.

import { readFileSync } from "node:fs";
import { replay } from "ralph-gate/history";

for (const log of readFileSync(0, "utf8").split("\n").filter((path) => path !== "")) {
  let report;
  try {
    report = replay(readFileSync(log, "utf8"));
  } catch (error) {
    report = { error: String(error) };
  }
  console.log(JSON.stringify({ log, ...report }));
}
