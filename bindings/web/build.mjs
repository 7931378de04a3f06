// Builds the package: `node build.mjs embedded.json`, in a folder where `src/face` and `src/generated` are those of the package
// for Node, `page` holds what wasm-bindgen made, and npm has installed.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { build } from "esbuild";

const { identity, components } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const gate = components.find(({ name }) => name === "gate");

rmSync("dist", { recursive: true, force: true });
mkdirSync("src/gate", { recursive: true });
mkdirSync("src/page", { recursive: true });
writeFileSync("src/gate/component.d.ts", declaration());
writeFileSync("src/page/history.d.ts", readFileSync("page/history.d.ts"));
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], { stdio: "inherit" });
await writeGate();
await writePage();

/** The component: its core as a file to be fetched, and what jco makes of the rest. */
async function writeGate() {
  const { files } = await transpileBytes(readFileSync(gate.path), {
    name: "gate",
    instantiation: "sync",
    // The lifted values come from our own component: what it gives back is valid.
    validLiftingOptimization: true,
    noComponentErrorWrapping: false,
    base64Cutoff: 0,
    emitTypescriptDeclarations: false,
    nodejsCompat: false,
  });
  const list = [...(files instanceof Map ? files : Object.entries(files))];
  const [script] = list.filter(([file]) => file.endsWith(".js"));
  const modules = list.filter(([file]) => file.endsWith(".wasm"));
  const [core, ...joints] = modules.sort(([, one], [, other]) => other.length - one.length);
  mkdirSync("dist/gate", { recursive: true });
  writeFileSync("dist/gate/gate.wasm", core[1]);
  writeFileSync("dist/gate/component.js", await minified(`${Buffer.from(script[1])}\n${loader(joints)}`));
  cpSync("src/gate/component.d.ts", "dist/gate/component.d.ts");
}

/** What reads logs, as wasm-bindgen made it. */
async function writePage() {
  mkdirSync("dist/page", { recursive: true });
  cpSync("page/history_bg.wasm", "dist/page/history.wasm");
  cpSync("page/history.d.ts", "dist/page/history.d.ts");
  writeFileSync("dist/page/history.js", await minified(readFileSync("page/history.js", "utf8")));
}

/** Without what nothing uses. */
async function minified(script) {
  const { outputFiles } = await build({
    stdin: { contents: script },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
  });
  return outputFiles[0].text;
}

/** How the parts come together: the core is given, what joins it to the outside is a few hundred bytes. */
function loader(joints) {
  const texts = joints.map(([file, bytes]) => [file, Buffer.from(bytes).toString("base64")]);
  return `
const joints = ${JSON.stringify(Object.fromEntries(texts))};
const joint = (text) => new WebAssembly.Module(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
export const load = (core) => instantiate((file) => (file in joints ? joint(joints[file]) : core), {});
export const identity = ${JSON.stringify(identity)};
`;
}

function declaration() {
  return `// What jco makes of the gate component.
import type { Component, Identity } from "../face/component.js";
export declare const identity: Identity;
/** Puts the component together around its core. */
export declare function load(core: WebAssembly.Module): Component;
`;
}
