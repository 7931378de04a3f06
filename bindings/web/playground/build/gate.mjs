// Makes generated/: the gate's component as a module for browsers, and what the page says about it.

import { cp, readFile, mkdir, writeFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { blake3 } from "@noble/hashes/blake3.js";

/** Transpiles the component at `component` into `folder`; `page` has what wasm-bindgen made of the page's crate. */
export async function generate(root, component, page, folder) {
  const bytes = new Uint8Array(await readFile(component));
  const options = { name: "gate", instantiation: "sync", base64Cutoff: 0, nodejsCompat: false };
  const { files } = await transpileBytes(bytes, options);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "interfaces"), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), content);
  }
  await cp(page, join(folder, "page"), { recursive: true });
  const about = { version: await version(root), digest: hex(blake3(bytes)) };
  await writeFile(join(folder, "about.json"), JSON.stringify(about, null, 2) + "\n");
}

/** The version of the workspace, which is the gate's. */
async function version(root) {
  const manifest = await readFile(join(root, "Cargo.toml"), "utf8");
  const found = /\[workspace\.package\][^[]*?^version = "([^"]+)"/ms.exec(manifest);
  if (!found) throw new Error("Cargo.toml names no version in [workspace.package]");
  return found[1];
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
