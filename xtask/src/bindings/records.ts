// Generated from wit/gate.wit: from the JSON form to the records of the component, and back.
//
// The way there is for what is in order. Whatever is not (an unknown field, another type, a word that does not exist)
// throws `NOT_PLAIN`; then the JSON face is asked, which explains it. So there is no rule here, only names.

/** Thrown for what only the JSON face can judge. */
export const NOT_PLAIN: unique symbol = Symbol("not plain");

type Words = Record<string, string>;
type Known = Record<string, true>;

function plain(value: any, known: Known): void {
  if (typeof value !== "object" || value === null || "toJSON" in value) throw NOT_PLAIN;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw NOT_PLAIN;
  for (const name in value) if (known[name] !== true) throw NOT_PLAIN;
}

function text(value: unknown): string {
  if (typeof value !== "string") throw NOT_PLAIN;
  return value;
}

function count(value: unknown): number {
  if (typeof value !== "number" || value >>> 0 !== value) throw NOT_PLAIN;
  return value;
}

function flag(value: unknown): boolean {
  if (typeof value !== "boolean") throw NOT_PLAIN;
  return value;
}

function word(value: unknown, words: Words): string {
  const found = typeof value === "string" && Object.hasOwn(words, value) ? words[value] : undefined;
  if (found === undefined) throw NOT_PLAIN;
  return found;
}

function list(value: unknown, item: (item: any) => any): any[] {
  if (!Array.isArray(value)) throw NOT_PLAIN;
  return value.map(item);
}

