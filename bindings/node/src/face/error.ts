// The gate's errors, as exceptions.

import type { ErrorCode, GateError as GateErrorData, Problem } from "../generated/types.js";

/** A call that the gate could not answer: what is wrong, where, and what to do about it. */
export class GateError extends Error {
  override readonly name = "GateError";
  /** For machines. The list is closed. */
  readonly code: ErrorCode;
  /** Where the first problem is, where there is one. */
  readonly path: string | null;
  /** Every problem that was found, not only the first. */
  readonly problems: readonly Problem[];

  constructor(error: GateErrorData) {
    super(error.message);
    this.code = error.code;
    this.path = error.path;
    this.problems = error.problems;
  }

  /** The error as the gate wrote it. */
  toJSON(): GateErrorData {
    const { code, message, path, problems } = this;
    return { code, message, path, problems: [...problems] };
  }
}
