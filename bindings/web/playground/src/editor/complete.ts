// Completion in the contract: names, words and their meaning, all from the gate's own JSON Schema.

import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import schema from "../../../../../gate-component/schemas/contract.schema.json";

interface Schema {
  description?: string;
  default?: unknown;
  enum?: unknown[];
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

type Format = "json" | "yaml" | "toml";

/** Where something is being written: below which names, and as a name or as the value of one. */
interface Place {
  path: string[];
  /** The name whose value is being written. */
  key: string | null;
  /** Where the word begins. */
  from: number;
}

/** An item of a list, in a path. */
const ITEM = "[]";

function formatOf(text: string): Format {
  if (/^\s*[{[]/.test(text)) return "json";
  return /^\s*(?:\[{1,2}\w|[\w.-]+\s*=)/m.test(text) ? "toml" : "yaml";
}

function inJson(before: string): Place | null {
  const open: { list: boolean; key: string | null }[] = [];
  let key: string | null = null;
  let isValue = false;
  let at = 0;
  while (at < before.length) {
    const char = before[at] ?? "";
    if (char === '"') {
      const end = /"(?:[^"\\]|\\.)*"/y;
      end.lastIndex = at;
      const text = end.exec(before)?.[0];
      if (text === undefined) return { path: names(open), key: isValue ? key : null, from: at };
      if (!isValue) key = text.slice(1, -1);
      at += text.length;
      continue;
    }
    if (char === "{" || char === "[") {
      open.push({ list: char === "[", key });
      isValue = char === "[";
    } else if (char === "}" || char === "]") {
      open.pop();
      isValue = open.at(-1)?.list ?? false;
    } else if (char === ":") {
      isValue = true;
    } else if (char === ",") {
      isValue = open.at(-1)?.list ?? false;
    }
    at++;
  }
  const word = /[\w-]*$/.exec(before)?.[0] ?? "";
  if (open.length === 0) return null;
  return { path: names(open), key: isValue && !open.at(-1)?.list ? key : null, from: before.length - word.length };
}

function names(open: { list: boolean; key: string | null }[]): string[] {
  return open.slice(1).flatMap(({ list, key }, index) => {
    const inList = open[index]?.list;
    const own = inList ? [] : [key ?? ""];
    return list ? [...own, ITEM] : own;
  });
}

function inYaml(before: string): Place | null {
  const lines = before.split("\n");
  const line = lines.pop() ?? "";
  const written = /^(\s*)((?:- +)?)(?:([\w$]+):\s+)?(["']?[\w.-]*)$/.exec(line);
  if (!written) return null;
  const [, space = "", dash = "", key = null, word = ""] = written;
  const path: string[] = [];
  let indent = space.length + dash.length;
  if (dash) {
    path.unshift(ITEM);
    indent = space.length + 1;
  }
  for (const above of lines.reverse()) {
    const found = /^(\s*)((?:- +)?)([\w$]+):\s*$/.exec(above);
    const item = /^(\s*)- +\S/.exec(above);
    if (item && !path.includes(ITEM) && (item[1]?.length ?? 0) < indent) {
      path.unshift(ITEM);
      indent = (item[1]?.length ?? 0) + 1;
    }
    if (found && (found[1]?.length ?? 0) + (found[2]?.length ?? 0) < indent) {
      path.unshift(found[3] ?? "");
      indent = (found[1]?.length ?? 0) + (found[2]?.length ?? 0);
    }
  }
  return { path, key, from: before.length - word.length };
}

function inToml(before: string): Place | null {
  const lines = before.split("\n");
  const line = lines.pop() ?? "";
  const written = /^\s*(?:([\w$]+)\s*=\s*)?(["']?[\w.-]*)$/.exec(line);
  if (!written) return null;
  const [, key = null, word = ""] = written;
  const header = lines.reverse().map((above) => /^\s*(\[{1,2})([\w.]+)\]/.exec(above)).find(Boolean);
  const path = header ? [header[2] ?? "", ...(header[1] === "[[" ? [ITEM] : [])] : [];
  return { path, key, from: before.length - word.length };
}

/** Every schema that may hold below a schema, at a path. */
function below(node: Schema, path: string[]): Schema[] {
  const ways = [node, ...(node.anyOf ?? [])];
  const [first, ...rest] = path;
  if (first === undefined) return ways;
  return ways.flatMap((way) => {
    const next = first === ITEM ? way.items : way.properties?.[first];
    return next ? below(next, rest) : [];
  });
}

function name(key: string, node: Schema, format: Format): Completion {
  const label = format === "json" ? `"${key}"` : key;
  const after = format === "toml" ? " = " : ": ";
  const info = node.description ?? "";
  const detail = node.default === undefined ? "" : `default ${JSON.stringify(node.default)}`;
  return { label, apply: label + after, info, detail, displayLabel: key, type: "property" };
}

function values(nodes: Schema[], format: Format): Completion[] {
  const words = nodes.flatMap((node) => {
    const isSwitch = [node.type].flat().includes("boolean");
    return (node.enum ?? (isSwitch ? [true, false] : [])).filter((word) => word !== null);
  });
  return words.map((word) => {
    const label = typeof word === "string" && format !== "yaml" ? `"${word}"` : String(word);
    return { label, displayLabel: String(word), type: "enum" };
  });
}

function complete(context: CompletionContext): CompletionResult | null {
  const text = context.state.doc.toString();
  const format = formatOf(text);
  const before = text.slice(0, context.pos);
  const place = { json: inJson, yaml: inYaml, toml: inToml }[format](before);
  if (!place || (!context.explicit && place.from === context.pos && place.key === null)) return null;
  const nodes = below(schema as Schema, place.path);
  const options = place.key === null
    ? nodes.flatMap((node) => Object.entries(node.properties ?? {}).map(([key, found]) => name(key, found, format)))
    : values(nodes.flatMap((node) => below(node, [place.key ?? ""])), format);
  return options.length > 0 ? { from: place.from, options, validFor: /^["']?[\w$]*$/ } : null;
}

export const completion = autocompletion({ override: [complete], icons: false });
