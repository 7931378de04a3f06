// What the contract's editor can do beyond writing: line numbers, completion, and what the gate says about it, underlined.

import { completionKeymap } from "@codemirror/autocomplete";
import { lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import type { Extension, Text } from "@codemirror/state";
import { type EditorView, keymap, lineNumbers } from "@codemirror/view";
import type { ContractReport, Problem } from "../answers";
import { inLine } from "../text";
import { completion } from "./complete";
import { settings } from "./settings";

export const contractExtensions: Extension = [lineNumbers(), settings, completion, keymap.of([...completionKeymap, ...lintKeymap])];

/** Where a problem is in the text: from its place to the end of the word that stands there. */
export function placeOf(doc: Text, problem: Problem): { from: number; to: number } {
  if (problem.line < 1) return { from: 0, to: doc.length };
  // What is missing at the end is missed behind the last line.
  const line = doc.line(Math.min(problem.line, doc.lines));
  if (problem.line > doc.lines) return { from: line.from, to: line.to };
  const from = line.from + inLine(line.text, problem.column);
  const word = /^(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[\w.+$-]+|.)/u.exec(line.text.slice(from - line.from))?.[0] ?? "";
  return { from, to: from + word.length };
}

/** Shows what the gate says. */
export function underline(view: EditorView, report: ContractReport): void {
  const { doc } = view.state;
  const diagnostic = (severity: "error" | "warning") => (problem: Problem): Diagnostic => ({
    ...placeOf(doc, problem),
    severity,
    message: [problem.message, problem.help].filter(Boolean).join("\n"),
  });
  const found = [...report.problems.map(diagnostic("error")), ...report.warnings.map(diagnostic("warning"))];
  view.dispatch(setDiagnostics(view.state, found.sort((one, other) => one.from - other.from)));
}
