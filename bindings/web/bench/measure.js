// Runs inside the page: what is measured, and how.

const { contract, checks, prose, end, longest_loop } = await (await fetch("/bench/evaluation.json")).json();

/** Sizes of an agent's output. */
export const SIZES = { "1KiB": 1 << 10, "64KiB": 1 << 16 };

/** What an agent writes, exactly so many bytes, with a promise at its end. */
function output(size) {
  const length = size - end.length - 1;
  return prose.repeat(length / prose.length + 1).slice(0, length) + "\n" + end;
}

function iteration(index, size) {
  return { index, action: "final", output: output(size), checks };
}

/** One evaluation by the face's session: values in, values out. A loop has an end; then a new one begins. */
export function bySession(gate, size) {
  const turn = iteration(0, size);
  let session;
  return () => {
    turn.index = (turn.index % longest_loop) + 1;
    if (turn.index === 1) session = gate.openSession(contract);
    if (!session.evaluateFinal(turn).intercepted) throw new Error("the gate let the agent go");
  };
}

/** One evaluation by the JSON face, which stands alone: a text in, a text out. */
export function byText(call, size) {
  const input = JSON.stringify({ contract, iteration: iteration(1, size) });
  return () => {
    if (!call("evaluate_final", input).includes('"intercepted":true')) throw new Error("the gate let the agent go");
  };
}

/** Microseconds a call: the quickest of many rounds, each long enough for a coarse clock. All take turns, and meet the same machine. */
export function measure(ways, milliseconds) {
  const names = Object.keys(ways);
  const counts = names.map((name) => warmUp(ways[name]));
  const found = names.map(() => []);
  const until = performance.now() + milliseconds * names.length;
  do {
    names.forEach((name, at) => found[at].push(round(ways[name], counts[at])));
  } while (performance.now() < until || found[0].length < 5);
  return Object.fromEntries(names.map((name, at) => [name, Math.min(...found[at])]));
}

/** How many calls take about ten milliseconds. */
function warmUp(call) {
  const until = performance.now() + 200;
  let calls = 0;
  for (; performance.now() < until; calls++) call();
  return Math.max(1, Math.round(calls / 20));
}

function round(call, count) {
  const begun = performance.now();
  for (let at = 0; at < count; at++) call();
  return ((performance.now() - begun) * 1000) / count;
}
