// A decision of the same size in other engines in Node, in microseconds: prints `{"cedar-wasm": {…}, "opa-wasm, floor": {…}}`.
//
// The same text is in the input, and the check that failed. Policies are parsed once, where the engine can do that.
// Started in a folder that has the peers: `node peers.mjs [milliseconds for each size]`; `RALPH_GATE_BUILT` names the
// folder with binaryen, which assembles the floor.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { report } from "./text.mjs";

const require = createRequire(join(process.cwd(), "package.json"));

/** Permits what ends with the promise and has passed its check: the least that the gate asks for. */
const POLICY = `permit(principal, action, resource) when { context.tests_green == "pass" && context.output like "*<promise>COMPLETE</promise>\\n" };`;

function cedar(output) {
  const engine = require("@cedar-policy/cedar-wasm/nodejs");
  const parsed = engine.preparsePolicySet("loop", { staticPolicies: POLICY });
  if (parsed.type !== "success") throw new Error(JSON.stringify(parsed));
  const entity = (type) => ({ type, id: "it" });
  return () => {
    const answer = engine.statefulIsAuthorized({
      principal: entity("Agent"),
      action: entity("Action"),
      resource: entity("Loop"),
      context: { output, tests_green: "fail" },
      preparsedPolicySetId: "loop",
      entities: [],
    });
    if (answer.type !== "success" || answer.response.decision !== "deny") throw new Error(JSON.stringify(answer));
  };
}

const { default: binaryen } = await import(pathToFileURL(createRequire(join(process.env.RALPH_GATE_BUILT, "package.json")).resolve("binaryen")));
const floor = binaryen.parseText(readFileSync(new URL("floor.wat", import.meta.url), "utf8"));
floor.optimize();
const policy = require("@open-policy-agent/opa-wasm").loadPolicySync(floor.emitBinary());

function opa(output) {
  return () => {
    const [{ result }] = policy.evaluate({ output, tests_green: "fail" });
    if (result !== true) throw new Error("the floor answers always the same");
  };
}

console.log(JSON.stringify({ "cedar-wasm": report(cedar), "opa-wasm, floor": report(opa) }));
