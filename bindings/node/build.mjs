// Builds the package: `node build.mjs embedded.json`, in a folder where `src/generated` is filled and npm has installed.
//
// `embedded.json` lists the components that travel inside, as `cargo xtask` writes it. Each becomes one CommonJS file
// in `dist` that both module systems load: what jco makes of it, and its bytes. So does what reads logs, which is no
// component: `page` holds what wasm-bindgen made of it.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { build } from "esbuild";

/** What jco's code notes down at every step, if the environment says so. */
const LOG = "_debugLog";

const { identity, components } = JSON.parse(readFileSync(process.argv[2], "utf8"));

rmSync("dist", { recursive: true, force: true });
rmSync("transpiled", { recursive: true, force: true });
for (const { name, path } of components) await embed(name, path);
await embedPage();
for (const system of ["esm", "cjs"]) compile(system);
for (const system of ["esm", "cjs"]) await document(system);

/** Writes `dist/NAME.cjs`. */
async function embed(name, path) {
  const { files } = await transpileBytes(readFileSync(path), {
    name,
    instantiation: "sync",
    // The lifted values come from our own component: what it gives back is valid.
    validLiftingOptimization: true,
    noComponentErrorWrapping: false,
    base64Cutoff: 0,
    emitTypescriptDeclarations: false,
    nodejsCompat: false,
  });
  const folder = `transpiled/${name}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{ "type": "module" }');
  const modules = [];
  for (const [file, bytes] of files instanceof Map ? files : Object.entries(files)) {
    if (file.endsWith(".wasm")) modules.push([file, Buffer.from(bytes).toString("base64")]);
    else if (file.endsWith(".js")) writeFileSync(`${folder}/component.js`, withoutLog(Buffer.from(bytes).toString()));
  }
  const constants = `module.exports = ${JSON.stringify({ identity, modules: Object.fromEntries(modules) })};\n`;
  writeFileSync(`${folder}/constants.cjs`, constants);
  writeFileSync(`${folder}/entry.cjs`, readFileSync("embedded.cjs"));
  await bundle(folder, name);
  if (readFileSync(`dist/${name}.cjs`, "utf8").includes(LOG)) throw new Error(`esbuild left calls of ${LOG}`);
}

/** Writes `dist/history.cjs`. */
async function embedPage() {
  const folder = "transpiled/history";
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{ "type": "module" }');
  writeFileSync(`${folder}/history.js`, readFileSync("page/history.js"));
  const wasm = readFileSync("page/history_bg.wasm").toString("base64");
  writeFileSync(`${folder}/constants.cjs`, `module.exports = ${JSON.stringify({ wasm })};\n`);
  writeFileSync(`${folder}/entry.cjs`, readFileSync("page.cjs"));
  await bundle(folder, "history");
}

/** Makes one file of a folder's `entry.cjs` and what it needs. */
async function bundle(folder, name) {
  await build({
    entryPoints: [`${folder}/entry.cjs`],
    outfile: `dist/${name}.cjs`,
    bundle: true,
    format: "cjs",
    platform: "neutral",
    target: "es2022",
    minify: true,
    legalComments: "none",
    pure: [LOG],
  });
}

/**
 * The same without its definition, so that esbuild may drop the calls: each of them reads the environment, which takes
 * longer than the step itself, and which Deno asks a permission for.
 */
function withoutLog(source) {
  const parts = source.split(/const _debugLog = \(\.\.\.args\) => \{\n[^\n]*JCO_DEBUG[^\n]*\n[^\n]*\n\s*\};/);
  if (parts.length !== 2) throw new Error(`jco writes ${LOG} in another way now`);
  return parts.join("");
}

/** Compiles the sources for a module system, with their types. */
function compile(system) {
  const module = system === "esm" ? "esnext" : "commonjs";
  const tsc = ["node_modules/typescript/bin/tsc", "-p", ".", "--module", module, "--outDir", `dist/${system}`];
  execFileSync(process.execPath, [...tsc, ...(system === "cjs" ? ["--moduleResolution", "bundler"] : [])], { stdio: "inherit" });
  const type = system === "esm" ? "module" : "commonjs";
  writeFileSync(`dist/${system}/package.json`, `{ "type": "${type}" }\n`);
}

/** Gives every function of the package the comment that it has as a method of `Gate`: taking methods out of an object loses them. */
async function document(system) {
  const methods = readFileSync(`dist/${system}/face/gate.d.ts`, "utf8");
  const comments = new Map([...methods.matchAll(/^    (\/\*\*(?:(?!\*\/).)*\*\/)\n    (\w+): /gms)].map(([, comment, name]) => [name, comment]));
  const lines = ['export * from "./face/index.js";', 'import type { Gate } from "./face/index.js";'];
  const all = await import(new URL("dist/esm/index.js", `file://${process.cwd()}/`));
  const taken = Object.keys(all).filter((name) => /^[a-z]/.test(name));
  for (const name of taken) {
    const comment = comments.get(name);
    if (!comment) throw new Error(`\`${name}\` has no comment in src/face/gate.ts`);
    lines.push(comment.replace(/^ {4}/gm, ""), `export declare const ${name}: Gate["${name}"];`);
  }
  writeFileSync(`dist/${system}/index.d.ts`, `${lines.join("\n")}\n`);
}
