// What the tests share: where things are, and how another program is run.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

/** What `cargo xtask` tells the tests. */
function told(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: \`cargo xtask test\` runs these tests`);
  return value;
}

/** The checkout. */
export const ROOT = told("RALPH_GATE_ROOT");
/** Where the package was built, with what built it. */
export const BUILT = told("RALPH_GATE_BUILT");
/** The project that the package is installed in; also where these tests are. */
export const PROJECT = process.cwd();

/** Runs a program in the project and gives what it printed. What it said of errors is in the error. */
export function run(program, args, options = {}) {
  return execFileSync(program, args, { cwd: PROJECT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...options });
}

/** Runs this Node. */
export const node = (...args) => run(process.execPath, args);

/** A folder in the project, so that what is in it finds the package; gone after the test, but for the logs of its loops. */
export function scratch(test) {
  const folder = mkdtempSync(join(PROJECT, "scratch-"));
  test.after(() => {
    keepLogs(folder, test.name);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Copies the logs below a folder to where `cargo xtask test` replays all of them. What the memory put aside is no log. */
function keepLogs(folder, name) {
  const { RALPH_GATE_TEST_LOGS: kept } = process.env;
  if (!kept) return;
  const isLog = (path) => basename(path) === "events.jsonl" && !path.includes("quarantine");
  const test = name.replace(/[^A-Za-z0-9]/g, "_").slice(0, 100);
  readdirSync(folder, { recursive: true }).filter(isLog).forEach((path, index) => {
    copyFileSync(join(folder, path), join(kept, `node-${test}-${basename(folder)}-${index}.jsonl`));
  });
}

/** The package's README. */
export const readme = () => readFileSync(join(PROJECT, "node_modules/ralph-gate/README.md"), "utf8");

/** The fenced blocks of a Markdown text, with their languages. */
export function blocks(markdown) {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));
}

/** Every vector: the path and what is in it. */
export function vectors() {
  const folder = join(ROOT, "tests/vectors");
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".json"));
  return files.sort().map((name) => ({ name, ...JSON.parse(readFileSync(join(folder, name), "utf8")) }));
}
