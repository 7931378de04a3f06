// A component inside a package: compiled when it is first needed, without a file, an await or a fetch.

const { instantiate } = require("./component.js");
const { identity, modules } = require("./constants.cjs");

/** Compiled once, instantiated as often as it is asked for. */
const compiled = new Map();

function compile(file) {
  let module = compiled.get(file);
  if (!module) {
    module = new WebAssembly.Module(decode(modules[file]));
    compiled.set(file, module);
    modules[file] = undefined;
  }
  return module;
}

function decode(base64) {
  if (typeof Buffer !== "undefined") return Buffer.from(base64, "base64");
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

module.exports = { identity, load: (imports) => instantiate(compile, imports ?? {}) };
