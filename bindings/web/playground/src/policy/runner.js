// Appended to the module that a policy's component became, and run with it in a Worker of the cell. Calls, and bounds what it
// hands back: a policy may answer with more than a page can hold.

const PACKAGE = "ralph:gate/";
const MOST_REASONS = 16;
const MOST_TEXT = 1000;

addEventListener("message", ({ data }) => {
  try {
    postMessage(judge(data));
  } catch (error) {
    postMessage({ trap: text(error instanceof Error ? `${error.name}: ${error.message}` : error) });
  }
});

function judge({ modules, evidence, artifacts, settings }) {
  const compiled = new Map(modules.map(([name, bytes]) => [name, new WebAssembly.Module(bytes)]));
  // Every call is answered by a new instance: nothing is remembered from one to the next.
  const fresh = () => instantiate((name) => compiled.get(name), imports(artifacts))["policy"];
  const { name, version, summary, wants } = fresh().describe();
  const description = { name: text(name), version: text(version), summary: text(summary), wants: texts(wants) };
  const missing = wants.filter((wanted) => !evidence.artifacts.some(({ name }) => name === wanted));
  if (missing.length > 0) return { description, missing: texts(missing) };
  const { outcome, reasons } = fresh().evaluate(evidence, settings);
  return { description, outcome, reasons: texts(reasons), more: Math.max(0, reasons.length - MOST_REASONS) };
}

/** All that a policy may ask for: bytes of the artifacts it was told about. */
function imports(artifacts) {
  const contents = new Map(artifacts);
  const read = (name, offset, length) => {
    const bytes = contents.get(name);
    if (!bytes) throw { payload: "unknown-name" };
    const from = Number(offset);
    return bytes.slice(from, from + length);
  };
  return { [`${PACKAGE}artifacts`]: { read }, [`${PACKAGE}artifacts@0.1.0`]: { read } };
}

function texts(list) {
  return Array.from(list.slice(0, MOST_REASONS), text);
}

function text(value) {
  return String(value).slice(0, MOST_TEXT);
}
