//! Random inputs for parsers: the same in every run, on every machine.

use ralph_gate_tests::random;

/// A generator of inputs.
pub(crate) struct Random(random::Random);

/// Pieces that mean something to at least one parser.
const PIECES: &[&str] = &[
    "<promise>",
    "</promise>",
    "DONE",
    "LOOP_CONTINUE",
    "LOOP_BLOCKED",
    "<context>",
    "</context>",
    "```",
    "~~~",
    "`",
    "``",
    "> ",
    "<!--",
    "-->",
    "- ",
    "1. ",
    "\\",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "\t",
    "---\n",
    "...\n",
    "# ",
    "a: ",
    "b: [",
    "]",
    "{",
    "}",
    "[",
    ",",
    ":",
    "\"",
    "'",
    "&x ",
    "*x",
    "!!str ",
    "? ",
    "| ",
    "|\n",
    ">-\n",
    "null",
    "~",
    "true",
    "false",
    "0",
    "-1",
    "1.50",
    "1e3",
    "0x1f",
    "0o17",
    "+.5",
    ".inf",
    ".nan",
    "[table]\n",
    "[[list]]\n",
    "k = ",
    "\"\"\"",
    "'''",
    "1979-05-27",
    "1_000",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\n",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{0}",
    "\u{1b}[31m",
    "\u{202e}",
    "é",
    "😀",
    "{\"items\": [",
    "{\"userStories\": [",
    "{\"id\": \"a\"",
    "\"passes\": ",
    "\"evidence\": ",
    "\"title\": ",
    "]}",
    "}",
    "\n## Iteration 3: x\n\n",
    "<!-- end 3 00000000 -->\n",
    "iteration: 3\n",
    "session_id: ",
    "completion_promise: \"",
    "active: true\n",
    "max_iterations: 5\n",
    "status: done\n",
    "status: proposed\n",
    "depends_on: [a]\n",
    "id: a\n",
    "needs_human: true\n",
    "\u{1e}",
    "\u{1e}=a done",
    "\u{1e}=b proposed a",
    "\u{1e}ytree\n",
    "\u{1e}jtree\n",
    "\u{1e}ttext\n",
    "\u{1e}ptool\n",
    "\u{1e}ctests\n",
    "mode: ralph\n",
    "mode = \"ralph\"\n",
    "completion_token: ",
    "completion_checks: [tests_green]\n",
    "profile: strict\n",
    "enforcement: shadow\n",
    "loop_max_iters: 5\n",
    "cost_budget_usd: 0.30\n",
    "2026-11-16T05:36:01Z",
    "12.5ms",
    "/tmp/x",
    "pid 4711",
    "0x7ffe12ab",
];

impl Random {
    /// A generator that begins with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(random::Random::new(seed))
    }

    /// A number below `count`, or 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0.index(count.max(1))
    }

    /// One of several things.
    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        let index = self.below(from.len());
        &from[index]
    }

    /// Up to `most` pieces in a row.
    pub(crate) fn text(&mut self, most: usize) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| *self.pick(PIECES)).collect()
    }

    /// Any bytes.
    pub(crate) fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = self.below(most + 1);
        (0..count)
            .map(|_| u8::try_from(self.below(256)).unwrap_or(0))
            .collect()
    }

    /// An input with a few changes: something cut, repeated, put in, or taken from another one.
    pub(crate) fn changed(&mut self, input: &str, other: &str) -> Vec<u8> {
        let mut bytes = input.as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let from = self.below(bytes.len() + 1);
            let length = self.below(1 + (bytes.len() - from).min(24));
            let range = from..from + length;
            match self.below(6) {
                0 => drop(bytes.drain(range)),
                1 => {
                    let copy = bytes[range].to_vec();
                    bytes.splice(from..from, copy);
                }
                2 => {
                    let start = self.below(other.len() + 1);
                    let tail = other.as_bytes()[start..].to_vec();
                    bytes.truncate(from);
                    bytes.extend(tail);
                }
                3 => {
                    let bits = 1 << self.below(8);
                    bytes[range]
                        .iter_mut()
                        .take(1)
                        .for_each(|byte| *byte ^= bits);
                }
                _ => {
                    let piece = *self.pick(PIECES);
                    bytes.splice(range, piece.bytes());
                }
            }
        }
        bytes
    }
}
