// Replays every log of a folder with the package as it is installed: `node replay.mjs FOLDER`. Prints one line of JSON per log.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { replay } from "ralph-gate/history";

const [folder] = process.argv.slice(2);
for (const name of readdirSync(folder).filter((name) => name.endsWith(".jsonl")).sort()) {
  const told = { log: name };
  try {
    Object.assign(told, replay(readFileSync(join(folder, name), "utf8")));
  } catch (error) {
    told.error = String(error);
  }
  console.log(JSON.stringify(told));
}
