// The gallery: one file an example, in the order of their names.

import { EMPTY_ITERATION, type Iteration, type Shared } from "./model";

export interface Example {
  id: string;
  group: string;
  title: string;
  /** What happens, and who falls for it. */
  story: string;
  /** The vector that proves the same rule. */
  vector: string | null;
  contract: string;
  iterations: Iteration[];
  /** What the gate says at the end: a part of its answer. */
  expect: { decision: string; stop_reason: string | null; detail: string | null; failures: { code: string }[] };
}

type File = Omit<Example, "id" | "iterations" | "contract"> & { contract: string[]; iterations: Partial<Iteration>[] };

const files = import.meta.glob<File>("../examples/*.json", { eager: true, import: "default" });

export const EXAMPLES: Example[] = Object.entries(files)
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([path, file]) => ({
    ...file,
    id: /(\d+-)?([^/]+)\.json$/.exec(path)?.[2] ?? path,
    contract: file.contract.join("\n"),
    iterations: file.iterations.map((iteration) => ({ ...EMPTY_ITERATION, ...iteration })),
  }));

/** The groups in their order. */
export const GROUPS: string[] = [...new Set(EXAMPLES.map(({ group }) => group))];

/** An example as a page: at its last iteration, where its verdict is. */
export function open(example: Example): Shared {
  const { contract, iterations, id } = example;
  return { contract, pinned: iterations.length > 1 ? contract : null, iterations, at: iterations.length - 1, example: id, log: null };
}

/** Whether a page still is the example that it began as. */
export function isAs({ contract, iterations }: Example, page: Shared): boolean {
  const same = page.iterations === iterations || JSON.stringify(page.iterations) === JSON.stringify(iterations);
  return same && page.contract === contract && page.at === iterations.length - 1;
}
