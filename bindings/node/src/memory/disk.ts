// The file functions that the memory asks for, with `node:fs`: a session's folder on a real disk.
//
// Every file is reached through a folder that is already open, where the system has `/proc/self/fd`, and never through
// a link: what an agent puts there can't lead anywhere else.

import * as fs from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;

/** A pipe that is opened for reading would wait for its other end. Node sets O_CLOEXEC by itself. */
const PLAIN = O_NOFOLLOW | O_NONBLOCK;
/** Nobody else's business: outputs of agents and of checks are in there. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** More is never read at once. */
const READ_LIMIT = 256n << 20n;
/** Whether an open folder has a path that stays with it. */
const HAS_PROC = fs.existsSync("/proc/self/fd");

type Action = "read" | "write" | "sync" | "rename" | "remove" | "lock";
type Folder = "session" | "checkpoints" | "quarantine";
type Bytes = { tag: "text"; val: string } | { tag: "raw"; val: Uint8Array };

interface Place {
  folder: Folder;
  name: string;
}

interface Stamp {
  length: bigint;
  version: string;
}

/** What the memory is told when the disk says no: thrown as it is. */
export interface DiskError {
  action: Action;
  place: string;
  kind: string;
  message: string;
}

/** A folder that is open, and which one it is. */
interface Open {
  fd: number;
  path: string;
  identity: string;
}

const KINDS: Record<string, string> = {
  ENOENT: "not-found",
  EEXIST: "already-exists",
  EACCES: "permission-denied",
  EPERM: "permission-denied",
  EROFS: "read-only",
  ENOSPC: "full",
  EDQUOT: "full",
};

/** Errors of a file that is not what it should be: a look says what it is. */
const SUSPICIOUS = ["ELOOP", "EMLINK", "ENXIO", "EISDIR", "ENOTDIR"];

function failed(action: Action, place: string, error: unknown): DiskError {
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  return { action, place, kind: KINDS[code] ?? "other", message };
}

function refused(place: string, kind: string): DiskError {
  return { action: "read", place, kind, message: "" };
}

const identity = (stat: fs.BigIntStats): string => `${stat.dev}:${stat.ino}`;
const stamp = (stat: fs.BigIntStats): Stamp => ({ length: stat.size, version: `${stat.ino}:${stat.mtimeNs}:${stat.ctimeNs}` });
const isMissing = (error: unknown): boolean => (error as { code?: string }).code === "ENOENT";

/** Why this is no plain file with one name. */
function refusal(stat: fs.BigIntStats): string | undefined {
  if (stat.isFile()) return stat.nlink > 1n ? "hard-link" : undefined;
  if (stat.isSymbolicLink()) return "symbolic-link";
  return stat.isDirectory() ? "is-folder" : "special";
}

/** The path of a name in an open folder. */
const at = (folder: Open, name: string): string => join(HAS_PROC ? `/proc/self/fd/${folder.fd}` : folder.path, name);

/** Opens a folder below another one, not through a link. None if it is not there. */
function openFolder(above: Open, name: string): Open | undefined {
  const path = join(above.path, name);
  let fd: number;
  try {
    fd = fs.openSync(at(above, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (!SUSPICIOUS.includes((error as { code: string }).code)) throw failed("read", path, error);
    const link = fs.lstatSync(at(above, name), { throwIfNoEntry: false })?.isSymbolicLink();
    throw refused(path, link ? "symbolic-link" : "not-a-folder");
  }
  return { fd, path, identity: identity(fs.fstatSync(fd, { bigint: true })) };
}

function makeFolder(above: Open, name: string): void {
  try {
    fs.mkdirSync(at(above, name), { mode: FOLDER_MODE });
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw failed("write", join(above.path, name), error);
  }
}

/** The functions of the interface `disk` for a session that is not there. */
export function noFolder(path: string): object {
  const none = (): undefined => undefined;
  const missing = (): never => {
    throw failed("read", path, { code: "ENOENT", message: "no such folder" });
  };
  const name = (): string => path;
  const [guard, names, stat, read] = [none, none, none, none];
  const [create, append, cut, sync] = [missing, missing, missing, missing];
  const [rename, exchange, remove, makeFolder, syncFolder] = [missing, missing, missing, missing, missing];
  return { name, guard, names, stat, read, create, append, cut, sync, rename, exchange, remove, makeFolder, syncFolder };
}

/** A session's folder. */
export class SessionFolder {
  readonly path: string;
  readonly #root: Open;
  readonly #name: string;
  readonly #folders = new Map<Folder, Open>();
  #lock: { fd: number; identity: string } | undefined;

  /** Opens `ROOT/NAME`. The root's own folder is trusted; the root and what is below are no links. */
  static open(root: string, name: string, missing: "make" | "report"): SessionFolder | undefined {
    const path = resolve(root);
    const parent: Open = { fd: -1, path: dirname(path), identity: "" };
    try {
      parent.fd = fs.openSync(parent.path, O_RDONLY | O_DIRECTORY);
    } catch (error) {
      if (missing === "report" && isMissing(error)) return undefined;
      throw failed("read", parent.path, error);
    }
    try {
      const opened = openOrMake(parent, basename(path), missing);
      const session = opened && openOrMake(opened, name, missing);
      if (opened && !session) fs.closeSync(opened.fd);
      return opened && session && new SessionFolder(opened, name, session);
    } finally {
      fs.closeSync(parent.fd);
    }
  }

  private constructor(root: Open, name: string, session: Open) {
    this.path = session.path;
    this.#root = root;
    this.#name = name;
    this.#folders.set("session", session);
  }

  /** Opens the lock file, which is made if it is not there. */
  openLock(): { fd: number; identity: string } {
    const { fd, stat } = this.#open({ folder: "session", name: "lock" }, O_RDWR | O_CREAT, "lock");
    return { fd, identity: identity(stat) };
  }

  /** Keeps the locked file open as long as the folder is, if it is still the one that others would lock. */
  hold(lock: { fd: number; identity: string }): boolean {
    if (!this.#is(this.#need("session"), "lock", lock.identity)) return false;
    this.#lock = lock;
    return true;
  }

  /** Makes the name of the session's folder itself durable. */
  syncRoot(): void {
    syncFolder(this.#root);
  }

  /** Closes everything; the lock is given back. */
  close(): void {
    for (const { fd } of [this.#root, ...this.#folders.values()]) fs.closeSync(fd);
    if (this.#lock) fs.closeSync(this.#lock.fd);
    this.#lock = undefined;
    this.#folders.clear();
  }

  /** The functions of the interface `disk`. */
  functions() {
    return {
      name: (): string => this.path,
      guard: (): void => this.#guard(),
      names: (folder: Folder): string[] | undefined => this.#names(folder),
      stat: (place: Place): Stamp | undefined => this.#stat(place),
      read: (place: Place, offset: bigint): { bytes: Bytes; stamp: Stamp } | undefined => this.#read(place, offset),
      create: (place: Place, content: Bytes, synced: boolean): Stamp => this.#create(place, content, synced),
      append: (place: Place, content: Bytes): Stamp => this.#append(place, content),
      cut: (place: Place, length: bigint): void =>
        this.#with(place, O_WRONLY, "write", (fd) => fs.ftruncateSync(fd, Number(length))),
      sync: (place: Place): void => this.#with(place, O_RDONLY, "sync", fs.fsyncSync),
      rename: (old: Place, to: Place): void => {
        const [from, target] = [this.#at(old), this.#at(to)];
        this.#try("rename", old, () => fs.renameSync(from, target));
      },
      // Node can't swap two files in one step; the memory then renames.
      exchange: (): boolean => false,
      remove: (place: Place): void => {
        const path = this.#at(place);
        this.#try("remove", place, () => fs.rmSync(path, { force: true }));
      },
      makeFolder: (folder: Folder): void => {
        if (folder !== "session") makeFolder(this.#need("session"), folder);
      },
      syncFolder: (folder: Folder): void => syncFolder(this.#need(folder)),
    };
  }

  /** The open folder. None if it is not there. */
  #folder(folder: Folder): Open | undefined {
    let open = this.#folders.get(folder);
    if (!open && (open = openFolder(this.#need("session"), folder))) this.#folders.set(folder, open);
    return open;
  }

  #need(folder: Folder): Open {
    const open = folder === "session" ? this.#folders.get(folder) : this.#folder(folder);
    if (!open) throw failed("read", join(this.path, folder), { code: "ENOENT", message: "no such folder" });
    return open;
  }

  #at({ folder, name }: Place): string {
    return at(this.#need(folder), name);
  }

  /** As a person finds it. */
  #shown({ folder, name }: Place): string {
    return join(this.path, folder === "session" ? "" : folder, name);
  }

  #try<T>(action: Action, place: Place, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw failed(action, this.#shown(place), error);
    }
  }

  /** Opens a plain file that has no other name. */
  #open(place: Place, flags: number, action: Action): { fd: number; stat: fs.BigIntStats } {
    const path = this.#at(place);
    let fd: number;
    try {
      fd = fs.openSync(path, flags | PLAIN, FILE_MODE);
    } catch (error) {
      const suspicious = SUSPICIOUS.includes((error as { code: string }).code);
      const stat = suspicious ? fs.lstatSync(path, { bigint: true, throwIfNoEntry: false }) : undefined;
      const what = stat && refusal(stat);
      throw what ? refused(this.#shown(place), what) : failed(action, this.#shown(place), error);
    }
    const stat = fs.fstatSync(fd, { bigint: true });
    const what = refusal(stat);
    if (what === undefined) return { fd, stat };
    fs.closeSync(fd);
    throw refused(this.#shown(place), what);
  }

  #with<T>(place: Place, flags: number, action: Action, work: (fd: number, stat: fs.BigIntStats) => T): T {
    const { fd, stat } = this.#open(place, flags, action);
    try {
      return this.#try(action, place, () => work(fd, stat));
    } finally {
      fs.closeSync(fd);
    }
  }

  #is(folder: Open, name: string, expected: string): boolean {
    const stat = fs.lstatSync(at(folder, name), { bigint: true, throwIfNoEntry: false });
    return stat !== undefined && identity(stat) === expected;
  }

  #guard(): void {
    const session = this.#need("session");
    if (!this.#is(this.#root, this.#name, session.identity)) throw refused(this.path, "swapped");
    if (this.#lock && !this.#is(session, "lock", this.#lock.identity)) throw refused(join(this.path, "lock"), "swapped");
    for (const [name, { path, identity }] of this.#folders) {
      if (name !== "session" && !this.#is(session, name, identity)) throw refused(path, "swapped");
    }
  }

  #names(folder: Folder): string[] | undefined {
    const open = this.#folder(folder);
    if (!open) return undefined;
    let names: Buffer[];
    try {
      names = fs.readdirSync(at(open, "."), { encoding: "buffer" });
    } catch (error) {
      throw failed("read", open.path, error);
    }
    return names.sort(Buffer.compare).flatMap((name) => textOf(name) ?? []);
  }

  #stat(place: Place): Stamp | undefined {
    if (!this.#folder(place.folder)) return undefined;
    const path = this.#at(place);
    const stat = this.#try("read", place, () => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false }));
    if (!stat) return undefined;
    const what = refusal(stat);
    if (what !== undefined) throw refused(this.#shown(place), what);
    return stamp(stat);
  }

  #read(place: Place, offset: bigint): { bytes: Bytes; stamp: Stamp } | undefined {
    if (!this.#folder(place.folder)) return undefined;
    let opened: { fd: number; stat: fs.BigIntStats };
    try {
      opened = this.#open(place, O_RDONLY, "read");
    } catch (error) {
      if ((error as DiskError).kind === "not-found") return undefined;
      throw error;
    }
    const { fd, stat } = opened;
    try {
      const expected = stat.size > offset ? stat.size - offset : 0n;
      if (expected > READ_LIMIT) throw refused(this.#shown(place), "too-large");
      const bytes = this.#try("read", place, () => readFrom(fd, Number(offset), Number(expected)));
      const text = textOf(bytes);
      return { bytes: text === undefined ? { tag: "raw", val: bytes } : { tag: "text", val: text }, stamp: stamp(stat) };
    } finally {
      fs.closeSync(fd);
    }
  }

  #create(place: Place, content: Bytes, synced: boolean): Stamp {
    const { fd } = this.#open(place, O_WRONLY | O_CREAT | O_EXCL, "write");
    try {
      this.#try("write", place, () => writeAll(fd, content, 0n));
      if (synced) this.#try("sync", place, () => fs.fsyncSync(fd));
      return this.#try("write", place, () => stamp(fs.fstatSync(fd, { bigint: true })));
    } finally {
      fs.closeSync(fd);
    }
  }

  #append(place: Place, content: Bytes): Stamp {
    return this.#with(place, O_WRONLY | O_CREAT | O_APPEND, "write", (fd, stat) => {
      writeAll(fd, content, stat.size);
      markTime(fd, stat);
      return stamp(fs.fstatSync(fd, { bigint: true }));
    });
  }
}

function openOrMake(above: Open, name: string, missing: "make" | "report"): Open | undefined {
  const open = openFolder(above, name);
  if (open || missing === "report") return open;
  makeFolder(above, name);
  return openFolder(above, name);
}

/** By a descriptor of its own: one that has reported an error may not report it again. */
function syncFolder(folder: Open): void {
  try {
    const fd = fs.openSync(at(folder, "."), O_RDONLY | O_DIRECTORY);
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    throw failed("sync", folder.path, error);
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes as text; none if they are no UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** So many bytes, or fewer if the file is shorter by now. */
function readFrom(fd: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const read = fs.readSync(fd, bytes, done, length - done, offset + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}

/** Writes all of it, and sees after each part that it arrived: behind one that did not, nothing more is written. */
function writeAll(fd: number, content: Bytes, before: bigint): void {
  const bytes = content.tag === "text" ? Buffer.from(content.val) : content.val;
  let done = 0;
  while (done < bytes.length) {
    done += fs.writeSync(fd, bytes, done);
    const arrived = fs.fstatSync(fd, { bigint: true }).size - before;
    if (arrived < BigInt(done)) throw new Error(`${done} bytes were written and ${arrived} arrived`);
  }
}

/**
 * A time of change that no later change will have by chance: many file systems count in milliseconds, and an edit in the
 * same one would look like none. Where it can't be set, a change is noticed a few milliseconds later.
 */
function markTime(fd: number, before: fs.BigIntStats): void {
  try {
    fs.futimesSync(fd, Number(before.atimeNs) / 1e9, Number(before.mtimeNs / 1_000_000_000n) + Math.random());
  } catch {
    // Left as the system set it.
  }
}
