// One writer per session: the same lock of the system that the Rust host takes, so a process that died holds none.
//
// Node has no `flock`. A lock of that kind belongs to the open file, not to the process that asked for it: so a small
// program is started with the file already open, locks it, and ends; the lock stays as long as this process keeps the
// file open.

import { spawnSync } from "node:child_process";

/** Programs that can lock the file with the descriptor 3: 0 is locked, 1 is taken by somebody else. */
const LOCKERS: readonly (readonly [string, readonly string[]])[] = [
  ["flock", ["-x", "-n", "3"]],
  ["perl", ["-e", 'open(my $file, "+<&=", 3) or exit 2; exit(flock($file, 2 | 4) ? 0 : 1)']],
];

/** Locks an open file. False if somebody else has locked it. */
export function lock(fd: number): boolean {
  for (const [program, args] of LOCKERS) {
    const { status, error, signal } = spawnSync(program, [...args], { stdio: ["ignore", "ignore", "inherit", fd] });
    if (status === 0) return true;
    if (status === 1) return false;
    if ((error as { code?: string } | undefined)?.code !== "ENOENT") {
      throw new Error(`the session can't be locked: ${program} ended with ${signal ?? status ?? error}`);
    }
  }
  throw new Error(
    "the session can't be locked: Node has no flock, and neither the program `flock` (package util-linux) nor `perl` is on the PATH; install one of them",
  );
}
