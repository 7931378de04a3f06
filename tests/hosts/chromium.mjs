// The gate in a real browser, for the conformance tests: answers calls of the JSON face with the built package in Chromium.
//
// On its input a call is a function's name and its input, each as its length in four bytes (little endian) and its bytes; on
// its output an answer is a zero byte and a text, or a one byte and why there is none. It ends with its input.
// `cargo xtask` copies this file and its neighbour into a project that has the package.

import { PACKAGE, PROJECT, launch, serve } from "./browser.mjs";

const PAGE = `<!doctype html><title>gate</title><script type="module" src="/start.js"></script>`;
const START = `import { loadGate } from "${PACKAGE}/dist/index.js"; globalThis.gate = loadGate();`;

const server = await serve(PROJECT, { "/": PAGE, "/start.js": START });
const browser = await launch();
try {
  const page = await browser.newPage();
  await page.goto(server.origin);
  await page.waitForFunction(() => globalThis.gate);
  for await (const [name, input] of calls(process.stdin)) await answer(page, name, input);
} finally {
  await browser.close();
  server.close();
}

async function answer(page, name, input) {
  const ask = async ([name, input]) => (await globalThis.gate).call(name, input);
  const [kind, text] = await page.evaluate(ask, [name, input]).then(
    (answer) => [0, answer],
    (error) => [1, String(error)],
  );
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt8(kind, 0);
  head.writeUInt32LE(bytes.length, 1);
  await new Promise((written) => process.stdout.write(Buffer.concat([head, bytes]), written));
}

/** Pairs of texts, as they come. */
async function* calls(stream) {
  let name;
  for await (const text of texts(stream)) {
    if (name === undefined) {
      name = text;
    } else {
      yield [name, text];
      name = undefined;
    }
  }
}

async function* texts(stream) {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
      const end = 4 + rest.readUInt32LE(0);
      yield rest.toString("utf8", 4, end);
      rest = rest.subarray(end);
    }
  }
}
