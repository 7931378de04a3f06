// What one evaluation costs in Chromium, through the package as it is shipped: prints `{"1KiB": µs, "64KiB": µs}`.
// `node evaluate.mjs [MILLISECONDS]` measures so long for each size.

import { PACKAGE, PROJECT, launch, serve } from "../../../tests/hosts/browser.mjs";
import { benchFiles } from "./files.mjs";

const milliseconds = Number(process.argv[2] ?? 1500);
const server = await serve(PROJECT, { "/": "<!doctype html>", ...(await benchFiles()) });
const browser = await launch();
try {
  const page = await browser.newPage();
  await page.goto(server.origin);
  const figures = await page.evaluate(async ([path, milliseconds]) => {
    const [{ loadGate }, { SIZES, bySession, measure }] = await Promise.all(
      [`${path}/dist/index.js`, "/bench/measure.js"].map((path) => import(path)),
    );
    const gate = await loadGate();
    const ways = Object.entries(SIZES).map(([label, size]) => [label, bySession(gate, size)]);
    return measure(Object.fromEntries(ways), milliseconds);
  }, [PACKAGE, milliseconds]);
  console.log(JSON.stringify(figures));
} finally {
  await browser.close();
  server.close();
}
