// Goes on with a session in Node: `node memory.mjs ROOT KEY` evaluates the iteration that is given as JSON, and saves it.
//
// Prints the verdict's decision and the number of events as JSON. Where the loop has stopped, an operator resumes it first.
// `cargo xtask test` copies this file into a project that has the package.

import { readFileSync } from "node:fs";
import { readSnapshot } from "ralph-gate";
import { FileMemory } from "ralph-gate/memory";

const [root, sessionKey] = process.argv.slice(2);
const iteration = JSON.parse(readFileSync(0, "utf8"));
const memory = FileMemory.open({ root, sessionKey });
const snapshot = memory.session().snapshot();
if (snapshot && readSnapshot(snapshot).stopped) memory.resume({ operator: "ada", reason: "goes on in Node" });
const verdict = memory.evaluateFinal({ index: memory.brief().iteration, ...iteration });
console.log(JSON.stringify({ decision: verdict.decision, events: memory.events().length }));
memory.close();
