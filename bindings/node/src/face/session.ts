// A loop that is open: the contract is read once.

import { NOT_PLAIN, fromBrief, fromVerdict, toIteration } from "../generated/records.js";
import type { Brief, Iteration, Verdict } from "../generated/types.js";
import type { ComponentSession } from "./component.js";
import { fromText, toText } from "./json.js";

/** A loop. Opened by `openSession`. */
export class Session {
  readonly #session: ComponentSession;

  /** @internal */
  constructor(session: ComponentSession) {
    this.#session = session;
  }

  /**
   * Judge the next iteration and move on. After an error the session is as it was before.
   *
   * Records are quicker than JSON and refuse without a word; what they refuse is asked again as JSON, whose errors have
   * paths and remedies.
   *
   * @throws GateError
   */
  evaluateFinal(iteration: Iteration): Verdict {
    let verdict: unknown;
    try {
      verdict = this.#session.evaluateFinal(toIteration(iteration));
    } catch (refusal) {
      if (!isRefusal(refusal)) throw refusal;
      return fromText(this.#session.evaluateFinalJson(toText(iteration)));
    }
    return fromVerdict(verdict);
  }

  /** The same with texts: the iteration as JSON, the verdict (or `{"error": …}`) as JSON. */
  evaluateFinalText(iteration: string): string {
    return this.#session.evaluateFinalJson(iteration);
  }

  /** What to tell the agent before the next iteration. */
  brief(): Brief {
    return fromBrief(this.#session.brief());
  }

  /** The state after the last iteration that was judged: store it, and open the session with it again. */
  snapshot(): string | null {
    return this.#session.snapshot() ?? null;
  }

  /** Give the session's memory back at once. Without this it is given back when the session is collected. */
  close(): void {
    (this.#session as any)[Symbol.dispose]?.();
  }
}

/** Whether this is the answer of a gate that is well: an error of the typed face, or what has no typed form. */
function isRefusal(error: unknown): boolean {
  return error === NOT_PLAIN || (error instanceof Error && "payload" in error);
}
