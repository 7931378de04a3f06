// What the page calls what the gate answers. Looks names up; decides nothing.

import type { Need, Ruling } from "./answers";
import table from "./decision-table.json";
import words from "./words.json";

export const ACTIONS = words.actions;
export const OUTCOMES = words.outcomes;
export const KINDS = words.kinds;
export const RESULT_CODES = words.result_codes;

export interface TableLine {
  line: number;
  when: string;
  is: Record<string, unknown>;
}

/** The decision table of ARCHITECTURE.md. */
export const TABLE: TableLine[] = table;

/** The line of the table that a ruling is of. */
export function lineOf(ruling: Ruling): TableLine | undefined {
  const fits = ({ is }: TableLine) => Object.entries(is).every(([name, value]) => (ruling as unknown as Record<string, unknown>)[name] === value);
  return TABLE.find(fits);
}

/** How a ruling is shown: a colour, and a word. */
export type Tone = "go" | "hold" | "halt" | "pass" | "none";

export function toneOf(ruling: Ruling | null): Tone {
  if (!ruling) return "none";
  if (ruling.decision === "continue") return "hold";
  if (ruling.decision === "stop") return ruling.stop_reason === "completed" ? "go" : "halt";
  return "pass";
}

export function headline(ruling: Ruling | null): string {
  const names: Record<string, string> = words.headlines;
  if (!ruling) return words.headlines.none;
  return names[ruling.stop_reason ?? ""] ?? names[ruling.decision] ?? ruling.decision;
}

/** One line about a ruling, for lists and for screen readers. */
export function summary(ruling: { decision: string; stop_reason: string | null; detail: string | null } | null): string {
  if (!ruling) return "no verdict";
  return [ruling.decision, ruling.stop_reason, ruling.detail].filter(Boolean).join(", ");
}

/** A need as a sentence. */
export function needText(need: Need): string {
  const sentences: Record<string, string> = words.needs;
  const sentence = sentences[need.kind] ?? need.kind;
  const values: Record<string, string> = {
    check: need.check ?? "",
    checks: need.checks.map((id) => `\`${id}\``).join(", "),
    count: String(need.count),
    text: need.text ?? "",
  };
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
}
