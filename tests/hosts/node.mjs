// The partner for Node: answers calls with the package `ralph-gate`, as it is installed beside this file.
//
// Reads calls from its input and answers them: a text is its length in four bytes (little endian) and its bytes; a call
// is a function's name and its input; an answer is a zero byte and the text, or a one byte and why there is none.
// `cargo xtask test` copies this file into a project that has the package.

import { readSync, writeSync } from "node:fs";
import { call } from "ralph-gate";

/** So many bytes; undefined at the end of the input. */
function bytes(count) {
  const buffer = Buffer.alloc(count);
  for (let done = 0; done < count; ) {
    const read = readSync(0, buffer, done, count - done, null);
    if (read === 0) {
      if (done === 0) return undefined;
      throw new Error("a call ends too early");
    }
    done += read;
  }
  return buffer;
}

function receive() {
  const length = bytes(4);
  return length && bytes(length.readUInt32LE()).toString("utf8");
}

function send(kind, text) {
  const content = Buffer.from(text);
  const answer = Buffer.alloc(5 + content.length);
  answer.writeUInt8(kind);
  answer.writeUInt32LE(content.length, 1);
  content.copy(answer, 5);
  for (let done = 0; done < answer.length; ) done += writeSync(1, answer, done);
}

for (let name; (name = receive()) !== undefined; ) {
  const input = receive();
  if (input === undefined) throw new Error(`the call of \`${name}\` has no input`);
  try {
    send(0, call(name, input));
  } catch (error) {
    send(1, String(error?.stack ?? error));
  }
}
