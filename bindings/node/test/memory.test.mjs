// A loop's memory on a real disk, with the real lock of the system.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FileMemory, MemoryError } from "ralph-gate/memory";
import { GateError } from "ralph-gate";
import { PROJECT, node, run, scratch } from "./kit.mjs";

const contract = { mode: "ralph", completion_token: "COMPLETE", completion_checks: ["tests_green"], loop_max_iters: 5 };
const turn = (index, outcome) => ({ index, action: "final", output: "Done.\n<promise>COMPLETE</promise>", checks: [{ id: "tests_green", outcome }] });
const place = (context) => ({ root: join(scratch(context), ".ralph"), sessionKey: "night run" });
const code = (expected) => (error) => {
  assert.ok(error instanceof MemoryError, error?.stack ?? String(error));
  assert.equal(error.code, expected, error.message);
  assert.ok(error.help.length > 0);
  return true;
};
const standings = (where) => new Set(FileMemory.verify(where).files.map((file) => file.standing));

test("what is judged is on the disk before it is answered, and the loop goes on from there", (context) => {
  const where = place(context);
  const memory = FileMemory.open({ ...where, contract });
  assert.equal(memory.evaluateFinal(turn(1, "fail")).decision, "continue");
  // Read by somebody else, while the writer still has it open.
  const { state } = FileMemory.read(where);
  assert.equal(state.iteration, 1);
  assert.equal(state.snapshot, memory.session().snapshot());
  memory.close();
  const again = FileMemory.open({ ...where, contract });
  assert.equal(again.brief().iteration, 2);
  assert.equal(again.evaluateFinal(turn(2, "pass")).stop_reason, "completed");
  assert.deepEqual(again.events().map((event) => event.event), ["loop_started", "verdict", "verdict"]);
  again.close();
  assert.deepEqual(standings(where), new Set(["right"]));
});

test("files and folders are for their owner alone", (context) => {
  const memory = FileMemory.open({ ...place(context), contract });
  memory.evaluateFinal(turn(1, "fail"));
  const mode = (name) => fs.statSync(join(memory.path, name)).mode & 0o777;
  assert.equal(mode("."), 0o700);
  for (const name of ["events.jsonl", "contract.json", "progress.txt", "lock"]) assert.equal(mode(name), 0o600, name);
  memory.close();
});

test("a loop that stopped leaves a handoff, and is resumed by an operator", (context) => {
  const memory = FileMemory.open({ ...place(context), contract: { ...contract, loop_max_iters: 1 } });
  assert.equal(memory.evaluateFinal(turn(1, "fail")).stop_reason, "max_iters");
  assert.match(fs.readFileSync(join(memory.path, "handoff.md"), "utf8"), /^# Handoff/);
  assert.throws(() => memory.evaluateFinal(turn(2, "pass")), { name: "GateError", code: "loop_stopped" });
  memory.resume({ operator: "ada", reason: "it is mended" });
  assert.equal(memory.evaluateFinal(turn(2, "pass")).stop_reason, "completed");
  memory.close();
});

test("another contract is refused by the gate", (context) => {
  const where = place(context);
  const memory = FileMemory.open({ ...where, contract });
  memory.evaluateFinal(turn(1, "fail"));
  memory.close();
  assert.throws(() => FileMemory.open({ ...where, contract: { ...contract, completion_checks: [] } }), (error) => {
    assert.ok(error instanceof GateError);
    return error.code === "contract_changed";
  });
});

test("without a contract nothing is begun, and standard mode has no memory", (context) => {
  const where = place(context);
  assert.throws(() => FileMemory.open(where), code("memory_no_session"));
  assert.ok(!fs.existsSync(where.root));
  assert.throws(() => FileMemory.open({ ...where, contract: { mode: "standard" } }), MemoryError);
  assert.ok(!fs.existsSync(where.root));
});

/** Runs a text as a module of another process. */
function elsewhere(context, text) {
  const file = join(scratch(context), "elsewhere.mjs");
  fs.writeFileSync(file, text);
  return node(file);
}

test("one writer at a time, across processes; a process that died holds nothing", (context) => {
  const where = place(context);
  const attempt = `
    import { FileMemory } from "ralph-gate/memory";
    try {
      const memory = FileMemory.open(${JSON.stringify({ ...where, contract })});
      console.log(memory.state().iteration);
      process.kill(process.pid, process.argv[2] ?? 0);
    } catch (error) {
      console.log(error.code, error.message.includes("process ${process.pid}"));
    }
  `;
  const memory = FileMemory.open({ ...where, contract });
  assert.equal(elsewhere(context, attempt), "memory_busy true\n");
  assert.throws(() => FileMemory.open(where), code("memory_busy"));
  memory.close();
  assert.equal(elsewhere(context, attempt), "0\n");
  const file = join(scratch(context), "killed.mjs");
  fs.writeFileSync(file, attempt);
  assert.equal(spawnSync(process.execPath, [file, "SIGKILL"], { cwd: PROJECT }).signal, "SIGKILL");
  FileMemory.open(where).close();
});

test("the lock is the one that flock(1) takes", (context) => {
  const memory = FileMemory.open({ ...place(context), contract });
  const lock = join(memory.path, "lock");
  const status = () => spawnSync("flock", ["-n", lock, "true"]).status;
  assert.equal(status(), 1);
  memory.close();
  assert.equal(status(), 0);
});

test("links and folders in the place of a file are refused, and lead nowhere", (context) => {
  const outside = join(scratch(context), "outside");
  const plant = {
    "symbolic link": (path) => fs.symlinkSync(outside, path),
    "hard link": (path) => { fs.writeFileSync(outside, "mine"); fs.linkSync(outside, path); },
    folder: (path) => fs.mkdirSync(path),
    pipe: (path) => run("mkfifo", [path]),
  };
  for (const [what, put] of Object.entries(plant)) {
    const where = { ...place(context), sessionKey: what };
    const memory = FileMemory.open({ ...where, contract });
    memory.evaluateFinal(turn(1, "fail"));
    memory.close();
    fs.rmSync(outside, { force: true });
    fs.rmSync(join(memory.path, "progress.txt"));
    put(join(memory.path, "progress.txt"));
    const before = fs.existsSync(outside) ? fs.readFileSync(outside, "utf8") : null;
    try {
      const again = FileMemory.open(where);
      again.evaluateFinal(turn(2, "fail"));
      again.close();
    } catch (error) {
      assert.ok(error instanceof MemoryError, `${what}: ${error.stack}`);
    }
    const after = fs.existsSync(outside) ? fs.readFileSync(outside, "utf8") : null;
    assert.equal(after, before, what);
  }
});

test("a root or a session that is a link is refused", (context) => {
  const folder = scratch(context);
  fs.mkdirSync(join(folder, "real"));
  fs.symlinkSync("real", join(folder, "link"));
  assert.throws(() => FileMemory.open({ root: join(folder, "link"), sessionKey: "k", contract }), MemoryError);
  assert.deepEqual(fs.readdirSync(join(folder, "real")), []);
});

test("a folder that is swapped under an open memory is noticed, and nothing is lost", (context) => {
  const memory = FileMemory.open({ ...place(context), contract });
  memory.evaluateFinal(turn(1, "fail"));
  fs.renameSync(memory.path, `${memory.path}-away`);
  fs.mkdirSync(memory.path);
  assert.throws(() => memory.evaluateFinal(turn(2, "fail")), MemoryError);
  assert.deepEqual(fs.readdirSync(memory.path), []);
  // The verdict was not saved, so the loop is where it was.
  assert.equal(memory.brief().iteration, 2);
  memory.close();
});

test("a full disk is an error before the answer, and the loop is where it was", (context) => {
  const where = place(context);
  const memory = FileMemory.open({ ...where, contract });
  memory.evaluateFinal(turn(1, "fail"));
  memory.close();
  // The system ends every write beyond a limit on the size of files, as a full disk does.
  const file = join(scratch(context), "limited.mjs");
  fs.writeFileSync(file, `
    import { FileMemory } from "ralph-gate/memory";
    process.on("SIGXFSZ", () => {});
    const memory = FileMemory.open(${JSON.stringify(where)});
    try {
      memory.evaluateFinal({ index: 2, action: "final", output: "x", checks: [], tool_outputs: [{ name: "t", content: "y".repeat(100000) }] });
      console.log("answered");
    } catch (error) {
      console.log(error.name, memory.brief().iteration);
    }
  `);
  assert.equal(run("sh", ["-c", `ulimit -f 8; exec "${process.execPath}" "${file}"`]), "MemoryError 2\n");
  const again = FileMemory.open(where);
  assert.equal(again.brief().iteration, 2);
  assert.equal(again.evaluateFinal(turn(2, "pass")).stop_reason, "completed");
  again.close();
  assert.ok(!standings(where).has("wrong"));
});

// Told by `cargo xtask test`, which has built the host.
const host = process.env.RALPH_GATE_BINARY;
if (host) {
  test("a loop of the Rust host is continued here and finished there: one unbroken chain", (context) => {
    const folder = scratch(context);
    fs.writeFileSync(join(folder, "ralph-gate.toml"), `
[contract]
mode = "ralph"
completion_token = "COMPLETE"
completion_checks = ["there"]
[agent]
argv = ["sh", "agent.sh"]
[checks.there]
kind = "file"
path = "done.txt"
exists = true
`);
    const say = (text) => fs.writeFileSync(join(folder, "agent.sh"), `echo "<promise>${text}</promise>"\n`);
    const loop = (...args) => spawnSync(host, ["run", "--session", "relay", ...args], { cwd: folder, encoding: "utf8" });
    say("LOOP_BLOCKED");
    const begun = loop("--prompt", "Write done.txt.");
    assert.equal(begun.status, 3, begun.stderr);
    const memory = FileMemory.open({ root: join(folder, ".ralph"), sessionKey: "relay" });
    memory.resume({ operator: "ada", reason: "unblocked" });
    const verdict = memory.evaluateFinal({ index: 2, action: "final", output: "<promise>COMPLETE</promise>", checks: [{ id: "there", outcome: "fail" }] });
    assert.equal(verdict.decision, "continue");
    memory.close();
    say("COMPLETE");
    fs.writeFileSync(join(folder, "done.txt"), "");
    const ended = loop("--resume", "--accept-contract");
    assert.equal(ended.status, 0, ended.stderr);
    run(host, ["memory", "verify", "relay"], { cwd: folder });
    assert.deepEqual(standings({ root: join(folder, ".ralph"), sessionKey: "relay" }), new Set(["right"]));
    const { events } = FileMemory.read({ root: join(folder, ".ralph"), sessionKey: "relay" });
    // One of them is that of the checks before the agent began.
    assert.equal(events.filter((event) => event.event === "verdict").length, 4);
  });
}
