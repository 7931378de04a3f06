// What reads logs, inside the package: compiled when it is first needed, without a file, an await or a fetch.

const page = require("./history.js");
const { wasm } = require("./constants.cjs");

let bytes = wasm;

/** The functions, ready to be called. */
function ready() {
  if (bytes !== undefined) {
    page.initSync({ module: new WebAssembly.Module(decode(bytes)) });
    bytes = undefined;
  }
  return page;
}

function decode(base64) {
  if (typeof Buffer !== "undefined") return Buffer.from(base64, "base64");
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

module.exports = {
  readLog: (text) => ready().read_log(text),
  replay: (text, gate, contract) => ready().replay(text, gate, contract),
  whatIf: (text, contract, gate) => ready().what_if(text, contract, gate),
};
