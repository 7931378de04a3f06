// Values that come from elsewhere, read as what they are: a stranger's. What does not fit is a `WrongShape` that says where.

import type { Artifact, Check, Iteration, Note, Tampering, ToolOutput, Usage } from "./model";

/** The most iterations, checks, artifacts and so on. */
const MOST_ITEMS = 2000;

/** What is wrong with a value. */
export class WrongShape extends Error {}

export type Fields = Record<string, unknown>;

export function iteration(value: unknown, at: string): Iteration {
  const fields = object(value, at);
  return {
    action: text(fields["action"], `${at}.action`),
    ...given(fields, "canceled", at, flag),
    output: text(fields["output"] ?? "", `${at}.output`),
    checks: list(fields["checks"] ?? [], `${at}.checks`, check),
    artifacts: list(fields["artifacts"] ?? [], `${at}.artifacts`, artifact),
    tool_outputs: list(fields["tool_outputs"] ?? [], `${at}.tool_outputs`, toolOutput),
    tampered: list(fields["tampered"] ?? [], `${at}.tampered`, tampering),
    usage: usage(fields["usage"] ?? {}, `${at}.usage`),
    override: orNull(fields["override"] ?? null, `${at}.override`, note),
  };
}

function check(value: unknown, at: string): Check {
  const fields = object(value, at);
  return {
    id: text(fields["id"], `${at}.id`),
    outcome: text(fields["outcome"], `${at}.outcome`),
    ...given(fields, "reason", at, text),
    ...given(fields, "code", at, text),
    ...given(fields, "attempts", at, (value, at) => list(value, at, text)),
    ...given(fields, "iteration", at, number),
    ...given(fields, "fingerprint", at, text),
  };
}

function artifact(value: unknown, at: string): Artifact {
  const fields = object(value, at);
  return { name: text(fields["name"], at), kind: text(fields["kind"], at), content: text(fields["content"], at) };
}

function toolOutput(value: unknown, at: string): ToolOutput {
  const fields = object(value, at);
  return { name: text(fields["name"], at), content: text(fields["content"], at) };
}

function tampering(value: unknown, at: string): Tampering {
  const fields = object(value, at);
  return { what: text(fields["what"], at), reason: text(fields["reason"], at) };
}

function usage(value: unknown, at: string): Usage {
  const fields = object(value, at);
  return {
    ...given(fields, "elapsed_ms", at, number),
    ...given(fields, "tool_calls", at, number),
    ...given(fields, "cost_usd", at, text),
    ...given(fields, "tokens", at, number),
  };
}

function note(value: unknown, at: string): Note {
  const fields = object(value, at);
  return { operator: text(fields["operator"], at), reason: text(fields["reason"], at) };
}

function wrong(what: string): WrongShape {
  return new WrongShape(what);
}

/** A field that may be absent. */
function given<N extends string, T>(fields: Fields, name: N, at: string, read: (value: unknown, at: string) => T): { [name in N]?: T } {
  const value = fields[name];
  return value === undefined || value === null ? {} : ({ [name]: read(value, `${at}.${name}`) } as { [name in N]?: T });
}

export function orNull<T>(value: unknown, at: string, read: (value: unknown, at: string) => T): T | null {
  return value === null ? null : read(value, at);
}

export function object(value: unknown, at: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(`\`${at}\` is no object`);
  return value as Fields;
}

export function list<T>(value: unknown, at: string, read: (value: unknown, at: string) => T): T[] {
  if (!Array.isArray(value) || value.length > MOST_ITEMS) throw wrong(`\`${at}\` is no list, or too long`);
  return value.map((item, index) => read(item, `${at}[${index}]`));
}

export function text(value: unknown, at: string): string {
  if (typeof value !== "string") throw wrong(`\`${at}\` is no text`);
  return value;
}

export function number(value: unknown, at: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw wrong(`\`${at}\` is no count`);
  return value as number;
}

function flag(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw wrong(`\`${at}\` is neither true nor false`);
  return value;
}
