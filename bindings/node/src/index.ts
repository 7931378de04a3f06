// The gate for Node, Bun, Deno, Workers and bundles: the component travels inside the package and is compiled at the first call.

import embedded from "../gate.cjs";
import { Gate } from "./face/index.js";

export * from "./face/index.js";

const gate = new Gate(embedded.load, embedded.identity);

export const {
  version,
  digest,
  call,
  openSession,
  evaluateFinal,
  writeBrief,
  resume,
  checkContract,
  route,
  parsePromises,
  takeFingerprint,
  decideSignal,
  readSnapshot,
  readPrd,
  updatePrd,
  readProgress,
  writeProgress,
  readLoopFile,
  updateLoopFile,
  writeLoopFile,
} = gate;
