// What the page is served beside the package, when something is measured.

import { readFile } from "node:fs/promises";

export async function benchFiles() {
  const names = ["measure.js", "evaluation.json"];
  const files = names.map(async (name) => [`/bench/${name}`, await readFile(new URL(name, import.meta.url))]);
  return Object.fromEntries(await Promise.all(files));
}
