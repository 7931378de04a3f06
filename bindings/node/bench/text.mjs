// What is measured: an agent's output of a size, as tests/benches/gate/ways.rs has it, and the contract it is judged by.

const BLOCK = `I looked at \`src/lib.rs\` and found that the parser drops the last field.

- changed \`parse_line\` to keep it, see line 42
- added a test for *empty* fields

\`\`\`rust
fn parse_line(line: &str) -> Vec<&str> {
    line.split(',').collect()
}
\`\`\`

Running the tests took 1.25s at 2026-11-16T05:36:01Z: 12 passed, 2 failed.

`;
const END = "All done.\n<promise>COMPLETE</promise>\n";

/** The sizes, by the names of their columns. */
export const SIZES = { "1KiB": 1 << 10, "64KiB": 1 << 16 };

export const CONTRACT = "mode: ralph\ncompletion_token: COMPLETE\ncompletion_checks: [tests_green]\nloop_max_iters: 10000\nno_progress_limit: 0\n";

/** Prose, lists, code and tool output in the mix that agents write, with a promise at the end: so many bytes. */
export function agentOutput(size) {
  const length = size - END.length - 1;
  return `${BLOCK.repeat(length / BLOCK.length + 1).slice(0, length)}\n${END}`;
}

/** The median time of a call in microseconds, for as many milliseconds. */
export function median(budget, call) {
  const times = [];
  const end = performance.now() + budget;
  while (performance.now() < end || times.length < 5) {
    const start = performance.now();
    call();
    times.push(performance.now() - start);
  }
  // The first half is compiled while it is measured.
  const warm = times.slice(times.length / 2).sort((a, b) => a - b);
  return warm[Math.floor(warm.length / 2)] * 1000;
}

/** Measures a call for each size and prints the table's line. */
export function report(prepare, budget = Number(process.argv[2] ?? 1000)) {
  const entries = Object.entries(SIZES).map(([name, size]) => [name, median(budget, prepare(agentOutput(size)))]);
  return Object.fromEntries(entries);
}
