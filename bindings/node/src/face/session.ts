// A loop that is open: the contract is read once.

import { NOT_PLAIN, fromBrief, fromVerdict, toIteration } from "../generated/records.js";
import type { Brief, Iteration, Verdict } from "../generated/types.js";
import type { ComponentSession } from "./component.js";
import { fromText, toText } from "./json.js";

/** A loop. Opened by `openSession`. */
export class Session {
  readonly #session: ComponentSession;
  readonly #broken: () => void;

  /**
   * @internal
   * @param broken is called when the component trapped and is of no use any more.
   */
  constructor(session: ComponentSession, broken: () => void) {
    this.#session = session;
    this.#broken = broken;
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
    } catch (error) {
      if (isRefusal(error)) return fromText(this.evaluateFinalText(toText(iteration)));
      this.#broken();
      throw error;
    }
    return fromVerdict(verdict);
  }

  /** The same with texts: the iteration as JSON, the verdict (or `{"error": …}`) as JSON. */
  evaluateFinalText(iteration: string): string {
    try {
      return this.#session.evaluateFinalJson(iteration);
    } catch (error) {
      this.#broken();
      throw error;
    }
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
    (this.#session as any)[DISPOSE]?.();
  }
}

/** As jco spells it: older runtimes have no such symbol. */
const DISPOSE = Symbol.dispose ?? Symbol.for("dispose");

/** Whether this is the answer of a gate that is well: an error of the typed face, or what has no typed form. */
export function isRefusal(error: unknown): boolean {
  return error === NOT_PLAIN || (error instanceof Error && "payload" in error);
}
