// The gate component inside the package: see embedded.cjs.

import type { Component, Identity } from "./src/face/component.js";

declare const embedded: { identity: Identity; load: () => Component };
export = embedded;
