// A loop's memory on the disk: the files of a session, the same as the Rust host writes, each able to go on with the other's.
//
// What is written, in which order, and what a damaged file means is decided by the memory component. This file finds
// the folder, takes the lock, and hands texts over.

import { closeSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import embedded from "../../memory.cjs";
import type { Brief, Contract, Iteration, PrdUpdate, Request, Resumption, RoutingPolicy, Verdict } from "../face/index.js";
import { toText } from "../face/json.js";
import { type Session, openSession, route } from "../index.js";
import { SessionFolder, noFolder } from "./disk.js";
import { lock } from "./lock.js";

/** Which session. One of the two must be there. */
export interface Key {
  /** The folder of all sessions; `.ralph` in the working directory unless told otherwise. */
  root?: string;
  sessionKey?: string;
  draftId?: string;
}

/** How a session begins, if there is none yet. */
export interface Beginning extends Key {
  /** The contract, or the whole request. A session that exists keeps the contract it began with. */
  contract?: Contract | Request | string;
  /** What an operator decided for every request. */
  policy?: RoutingPolicy | string;
  /** A checklist to begin with, as text. */
  prd?: string;
  taskClass?: string;
  /** What the loop is marked with, for reports: names of a-z, 0-9, `_`, `.`, `-`. */
  labels?: Record<string, string>;
  /** What the agent is told, and how it is started: for the log. */
  prompt?: string;
  argv?: string[];
  /** Tells whether checks are still run in the same way. */
  rulesDigest?: string;
  /** How much the event log holds: with `digest_only`, digests and lengths in place of texts. Its verdicts can't be replayed. */
  record?: "full" | "digest_only";
}

/** What else happened in an iteration. */
export interface Meanwhile {
  prd?: PrdUpdate[];
  events?: { event: string; data: unknown }[];
  /** How checks are run by hand, for the handoff. */
  runs?: { check: string; argv: string[] }[];
}

/** What a session holds. */
export interface State {
  revision: number;
  iteration: number;
  contract: string;
  snapshot: string | null;
  prd: string | null;
  handoff: string | null;
  events: number;
}

/** Something that was found, and what was done about it. */
export interface Finding {
  code: string;
  file: string;
  message: string;
  kept: string | null;
}

/** The memory could not do what it was asked. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
  /** For machines, for example `memory_busy`. */
  readonly code: string;
  /** What to do about it. */
  readonly help: string;

  constructor({ code, message, help }: { code: string; message: string; help: string }) {
    super(message);
    this.code = code;
    this.help = help;
  }
}

/** More than a holder ever writes. */
const HOLDER_LIMIT = 4096;
/** How often the lock file may be replaced by others while it is locked. */
const ATTEMPTS = 100;

/** A session that is open for writing: what it judges is durable before anybody hears of it. */
export class FileMemory {
  readonly #folder: SessionFolder;
  readonly #store: any;
  #session: Session;

  /**
   * Opens a session, or begins it if there is none and a contract is given. Nobody else can write to it until it is
   * closed or this process ends.
   *
   * @throws MemoryError, for example `memory_busy` or `memory_no_session`
   * @throws GateError
   */
  static open(beginning: Beginning): FileMemory {
    const begins = beginning.contract !== undefined && routed(beginning).mode !== "standard";
    const { folder, component, key } = reach(beginning, begins ? "make" : "report");
    if (!folder) throw refusal(() => (beginning.contract === undefined ? component.read(key) : begin(component, key, beginning)));
    try {
      take(folder, component);
      return new FileMemory(folder, openOrBegin(component, folder, key, beginning), beginning);
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /** What a session holds, for a reader: takes no lock and changes nothing. */
  static read(key: Key): unknown {
    return glance(key, (component, text) => component.read(text));
  }

  /** Compares every file with what was saved: takes no lock and changes nothing. */
  static verify(key: Key): unknown {
    return glance(key, (component, text) => component.verify(text));
  }

  private constructor(folder: SessionFolder, store: any, { contract }: Beginning) {
    this.#folder = folder;
    this.#store = store;
    const { contract: pinned, snapshot } = this.state();
    // With a snapshot the gate sees whether the contract is still the one that the loop began with.
    this.#session = openSession(snapshot === null ? pinned : ((contract as Contract) ?? pinned), { snapshot });
  }

  /** The folder of the session. */
  get path(): string {
    return this.#folder.path;
  }

  /** The gate's session. What is judged there directly is not saved. */
  session(): Session {
    return this.#session;
  }

  /** What to tell the agent before the next iteration. */
  brief(): Brief {
    return this.#session.brief();
  }

  /**
   * Judges the next iteration and saves what changes; only then it answers. If it can't be saved, the loop is where it was.
   *
   * @throws GateError, MemoryError
   */
  evaluateFinal(iteration: Iteration, meanwhile: Meanwhile = {}): Verdict {
    const verdict = this.#session.evaluateFinal(iteration);
    try {
      ask(() => this.#store.remember(toText({ at_ms: Date.now(), iteration, verdict, ...meanwhile })));
    } catch (error) {
      this.#reopen();
      throw error;
    }
    return verdict;
  }

  /** Goes on with a loop that has stopped, or with another contract if the operator accepts it. */
  resume(resumption: Resumption, contract?: Contract | string): void {
    const routing = contract === undefined ? null : route(contract);
    ask(() => this.#store.resume(toText({ at_ms: Date.now(), resumption, routing })));
    this.#reopen();
  }

  /** What it holds. */
  state(): State {
    return JSON.parse(this.#store.state());
  }

  /** What was found when it was opened. */
  findings(): Finding[] {
    return JSON.parse(this.#store.findings());
  }

  /** What others did to the files since the last look. What nobody else may change is restored. */
  look(): Finding[] {
    return ask(() => this.#store.look());
  }

  /** What happened, oldest first. */
  events(): { seq: number; event: string; run?: unknown; data: unknown }[] {
    return ask(() => this.#store.events());
  }

  /** The checklist as its file holds it now. */
  prd(): unknown {
    return ask(() => this.#store.prd());
  }

  /** The end of the progress log, at most so many bytes. */
  recentProgress(most: number): string {
    return told(() => this.#store.recentProgress(most));
  }

  /** Gives the lock back. The session can be opened again, here or elsewhere. */
  close(): void {
    this.#session.close();
    this.#folder.close();
  }

  #reopen(): void {
    const { contract, snapshot } = this.state();
    this.#session.close();
    this.#session = openSession(contract, { snapshot });
  }
}

/** The folder of a session, an instance of the component for it, and the key as the component reads it. */
function reach(where: Key, missing: "make" | "report"): { folder: SessionFolder | undefined; component: any; key: string } {
  const { sessionKey, draftId, root = ".ralph" } = where;
  const key = toText(sessionKey === undefined ? { draft_id: draftId } : { session_key: sessionKey });
  const name = told(() => instance(noFolder(root)).folderName(key));
  const folder = safely(() => SessionFolder.open(root, name, missing));
  return { folder, component: instance(folder?.functions() ?? noFolder(join(root, name))), key };
}

const instance = (disk: object): any => embedded.load({ "ralph:gate/disk": disk }).memory;

/** A look at a session without its lock. */
function glance(where: Key, work: (component: any, key: string) => string): unknown {
  const { folder, component, key } = reach(where, "report");
  try {
    return ask(() => work(component, key));
  } finally {
    folder?.close();
  }
}

/** Takes the lock and writes who has it, for the message that another writer gets. */
function take(folder: SessionFolder, component: any): void {
  const now = Math.floor(Date.now() / 1000);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const file = safely(() => folder.openLock());
    if (!lock(file.fd)) {
      const busy = component.busy(folder.path, holder(file.fd), now);
      closeSync(file.fd);
      throw new MemoryError(busy);
    }
    if (folder.hold(file)) return writeHolder(file.fd, component.holderText(process.pid, "node", now));
    // Somebody replaced the file before it was locked: then this lock excludes nobody.
    closeSync(file.fd);
  }
  throw new Error(`${folder.path}/lock is replaced again and again`);
}

function holder(fd: number): string {
  const bytes = Buffer.alloc(HOLDER_LIMIT);
  return bytes.toString("utf8", 0, readSync(fd, bytes, 0, HOLDER_LIMIT, 0));
}

/** A full disk is no reason not to lock. */
function writeHolder(fd: number, text: string): void {
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, text, 0);
  } catch {
    // The message will name nobody.
  }
}

/** Opens the store; begins it where there is none yet and the caller says how. */
function openOrBegin(component: any, folder: SessionFolder, key: string, beginning: Beginning): any {
  try {
    return told(() => component.Store.open(key));
  } catch (error) {
    if (!(error instanceof MemoryError && error.code === NO_SESSION && beginning.contract !== undefined)) throw error;
  }
  const store = told(() => begin(component, key, beginning));
  safely(() => folder.syncRoot());
  return store;
}

function begin(component: any, key: string, beginning: Beginning): any {
  const { prd = null, taskClass = null, labels = {}, prompt = "", argv = [], rulesDigest = "", record = "full" } = beginning;
  const routing = routed(beginning);
  return component.Store.begin(key, toText({ at_ms: Date.now(), routing, prd, task_class: taskClass, labels, argv, prompt, rules_digest: rulesDigest, record }));
}

const routed = ({ contract, policy }: Beginning) => route(contract as Request | string, policy);

/** How the component says that there is nothing in a folder yet. */
const NO_SESSION = "memory_no_session";

/** A JSON answer of the component. */
const ask = (work: () => string): any => JSON.parse(told(work));

/** An answer of the component, its errors as exceptions. */
function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const payload = (error as { payload?: { code?: string; message: string; help: string } }).payload;
    throw payload?.code === undefined ? error : new MemoryError(payload as { code: string; message: string; help: string });
  }
}

/** The error that the component has for this. */
function refusal(work: () => unknown): unknown {
  try {
    told(work);
  } catch (error) {
    return error;
  }
  return new Error("the memory found a session where there is no folder");
}

/** What the disk says before there is an instance that could put it into words. */
function safely<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error) throw error;
    const { kind, place, message } = error as { kind: string; place: string; message: string };
    throw new MemoryError({ code: "memory_disk", message: `${place}: ${message || kind}`, help: "see that the path is a folder of your own" });
  }
}
