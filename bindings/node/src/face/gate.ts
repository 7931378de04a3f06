// Everything the gate can do, as methods. Knows neither Node nor the browser: it is handed an instantiated component.

import type {
  Brief,
  Contract,
  ContractReport,
  Fingerprint,
  IssueStates,
  Iteration,
  LoopFile,
  LoopFileChange,
  LoopFileInput,
  Prd,
  PrdUpdate,
  ProgressEntryInput,
  ProgressLog,
  PromiseReport,
  PromiseRules,
  Request,
  Resumption,
  Routing,
  RoutingPolicy,
  SignalReport,
  SnapshotView,
  TextFormat,
  Verdict,
} from "../generated/types.js";
import type { Component, ComponentSession, Identity } from "./component.js";
import { fromText, toText } from "./json.js";
import { Session, isRefusal } from "./session.js";

/** Where a loop was. */
export interface Where {
  /** What the last verdict gave back; nothing for a new loop. */
  snapshot?: string | null | undefined;
}

/** A contract as an object, or as a text in JSON, YAML or TOML. */
export type ContractSource = Contract | string;

/** The gate. All its functions are pure: the same input gives the same answer. */
export class Gate {
  readonly #load: () => Component;
  readonly #identity: Identity;
  #component: Component | undefined;

  /** @param load gives the component; it is called once, when it is needed. */
  constructor(load: () => Component, identity: Identity) {
    this.#load = load;
    this.#identity = identity;
  }

  /** The version of the gate. */
  version = (): string => this.#identity.version;

  /** BLAKE3 of the gate component, in hex. */
  digest = (): string => this.#identity.digest;

  /** Call a function of the JSON face by its name in `snake_case`: one text in, one text out, errors included. */
  call = (name: string, input: string): string => {
    try {
      return this.#ready().json.call(name, input);
    } catch (error) {
      this.#forget();
      throw error;
    }
  };

  /**
   * Open a loop, new or from its snapshot.
   *
   * @throws GateError
   */
  openSession = (contract: ContractSource, { snapshot }: Where = {}): Session => {
    const text = typeof contract === "string" ? contract : toText(contract);
    let session: ComponentSession;
    try {
      session = this.#ready().gate.Session.open(text, snapshot ?? undefined);
    } catch (error) {
      // The JSON face says the same with places.
      if (isRefusal(error)) this.writeBrief(text, { snapshot });
      else this.#forget();
      throw error;
    }
    return new Session(session, this.#forget);
  };

  /** Judge one iteration without keeping a session: for a caller that lives for one question. */
  evaluateFinal = (contract: ContractSource, iteration: Iteration, { snapshot }: Where = {}): Verdict =>
    this.#ask("evaluate_final", { contract, snapshot, iteration });

  /** What to tell the agent before the next iteration. */
  writeBrief = (contract: ContractSource, { snapshot }: Where = {}): Brief =>
    this.#ask("write_brief", { contract, snapshot });

  /** Go on with a loop that stopped, or with another contract. Gives the new snapshot. */
  resume = (contract: ContractSource, snapshot: string, resumption: Resumption): string =>
    this.#ask("resume", { contract, snapshot, resumption }).snapshot;

  /** Read a contract's text; every problem and every weakness at once. Without a format it is recognised. */
  checkContract = (text: string, format?: TextFormat): ContractReport => this.#ask("check_contract", { text, format });

  /** Where a request goes: to the gate, or to the harness's own completion. Both may be texts. */
  route = (request: Request | string, policy?: RoutingPolicy | string): Routing =>
    this.#ask("route", { request, policy });

  /** Find the promises in an agent's output. */
  parsePromises = (output: string, rules?: PromiseRules): PromiseReport => this.#ask("parse_promises", { output, rules });

  /** What an iteration's work looks like. Needs neither index nor action. */
  takeFingerprint = (iteration: Partial<Iteration>): Fingerprint => this.#ask("take_fingerprint", { iteration });

  /** Exactly one loop signal from the states of issues. */
  decideSignal = (states: IssueStates): SignalReport => this.#ask("decide_signal", { states });

  /** What a snapshot says, for people and tools. */
  readSnapshot = (text: string): SnapshotView => this.#ask("read_snapshot", { text });

  /** Read the text of `prd.json`. */
  readPrd = (text: string): Prd => this.#ask("read_prd", { text });

  /** Change lines of the checklist; everything else stays byte for byte. Gives the new text. */
  updatePrd = (text: string, updates: PrdUpdate[]): string => this.#ask("update_prd", { text, updates }).text;

  /** Read the text of `progress.txt`. Never fails: what is no entry is kept. */
  readProgress = (text: string): ProgressLog => this.#ask("read_progress", { text });

  /** What to append to `progress.txt` for an entry. */
  writeProgress = (entry: ProgressEntryInput): string => this.#ask("write_progress", { entry }).text;

  /** Read the text of a loop state file. */
  readLoopFile = (text: string): LoopFile => this.#ask("read_loop_file", { text });

  /** Change the front matter of a loop state file; its prompt stays byte for byte. Gives the new text. */
  updateLoopFile = (text: string, change: LoopFileChange): string =>
    this.#ask("update_loop_file", { text, change }).text;

  /** The text of a new loop state file. */
  writeLoopFile = (file: LoopFileInput): string => this.#ask("write_loop_file", { file }).text;

  #ask(name: string, input: object): any {
    return fromText(this.call(name, toText(input)));
  }

  /** A component that trapped, which takes more memory than there is, answers no more. The next call gets a new one. */
  #forget = (): void => {
    this.#component = undefined;
  };

  #ready(): Component {
    return (this.#component ??= this.#load());
  }
}
