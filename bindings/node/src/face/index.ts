// The platform-neutral part: everything but where the component's bytes come from.

export type * from "../generated/types.js";
export type { Component, ComponentSession, Identity } from "./component.js";
export { GateError } from "./error.js";
export { Gate, type ContractSource, type Where } from "./gate.js";
export { Session } from "./session.js";
