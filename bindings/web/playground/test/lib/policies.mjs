// Components of policies out of the texts in policies/, which a person can read.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { componentEmbed, componentNew, parse } from "@bytecodealliance/jco-transpile/wasm-tools";

const here = import.meta.dirname;

/** The component of a policy, by the name of its text. */
export async function policy(name) {
  const witSource = await readFile(join(here, "../../../../../wit/check-policy.wit"), "utf8");
  const binary = await parse(await readFile(join(here, "policies", `${name}.wat`), "utf8"));
  return componentNew(await componentEmbed({ binary, witSource, world: "check-policy", stringEncoding: "utf8" }));
}
