// Asks `ralph-gate hook opencode` when an agent of opencode wants to stop, and sends the agent back to work with the
// reason if it may not. Nothing is decided here.
import { spawn, spawnSync } from "node:child_process";

const PROGRAM = "ralph-gate";
const ARGUMENTS = ["hook", "opencode"];

// `opencode run` ends as soon as the session is idle, so it has to be held before that.
const endsWhenIdle = process.argv.slice(2).find((word) => !word.startsWith("-")) === "run";

export const RalphGate = async ({ client, directory }) => {
  // The agent's last message of each session, while it is being written and afterwards.
  const messages = new Map();
  // Sessions that go on only because of us.
  const continued = new Set();
  // Sessions in which the next prompt is ours.
  const prompted = new Set();
  // Sessions of agents that an agent started: theirs is not the loop.
  const children = new Set();

  const question = (session) =>
    JSON.stringify({
      harness: "opencode",
      hook_event_name: "Stop",
      session_id: session,
      cwd: directory,
      last_assistant_message: [...(messages.get(session)?.texts.values() ?? [])].join("\n"),
      stop_hook_active: continued.has(session),
    });

  const tell = async (message, variant) => {
    const service = PROGRAM;
    await client.app.log({ body: { service, level: variant === "error" ? "error" : "info", message } }).catch(() => {});
    await client.tui.showToast({ body: { title: service, message, variant } }).catch(() => {});
  };

  // What the gate answered, or why there is no answer.
  const read = ({ error, status, stdout, stderr }) => {
    if (error || status !== 0) {
      const why = error?.message ?? `it ended with ${status}`;
      return { problem: `${PROGRAM} can't be asked, and the agent was let go: ${why}` };
    }
    const { decision, reason } = stdout === "" ? {} : JSON.parse(stdout);
    return { reason: decision === "block" ? reason : undefined, note: stderr.trim() };
  };

  // Does what the gate answered. `prompt` tells the agent to go on.
  const follow = async (session, { reason, note, problem }, prompt) => {
    if (reason !== undefined) {
      continued.add(session);
      prompted.add(session);
      await prompt({ path: { id: session }, body: { parts: [{ type: "text", text: reason }] } });
    } else {
      continued.delete(session);
    }
    if (problem) await tell(problem, "error");
    else if (note) await tell(note, "info");
  };

  const askAndWait = (session) => {
    const asked = spawnSync(PROGRAM, ARGUMENTS, { input: question(session), encoding: "utf8" });
    return follow(session, read(asked), ({ path, body }) =>
      client.session.prompt({ path, body: { ...body, noReply: true } }),
    );
  };

  const ask = async (session) => {
    const answer = await new Promise((resolve) => {
      let [stdout, stderr] = ["", ""];
      const child = spawn(PROGRAM, ARGUMENTS);
      child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
      child.on("error", (error) => resolve({ error }));
      child.on("close", (status) => resolve({ status, stdout, stderr }));
      child.stdin.on("error", () => {});
      child.stdin.end(question(session));
    });
    await follow(session, read(answer), (request) => client.session.promptAsync(request));
  };

  // A part of a message is there, or has grown.
  const heard = (part) => {
    const { sessionID: session, messageID: id } = part;
    if (messages.get(session)?.id !== id) messages.set(session, { id, texts: new Map(), isLast: false });
    const message = messages.get(session);
    if (part.type === "text") message.texts.set(part.id, part.text);
    // With a tool the agent goes on by itself.
    if (part.type === "step-finish") message.isLast = !["tool-calls", "unknown"].includes(part.reason);
    return message;
  };

  const on = {
    "session.created": ({ info }) => {
      if (info.parentID) children.add(info.id);
    },
    "message.part.updated": ({ part }) => {
      if (children.has(part.sessionID)) return;
      const message = heard(part);
      if (endsWhenIdle && part.type === "step-finish" && message.isLast) return askAndWait(part.sessionID);
    },
    "session.idle": ({ sessionID: session }) => {
      const message = messages.get(session);
      if (endsWhenIdle || children.has(session) || !message?.isLast) return;
      message.isLast = false;
      return ask(session);
    },
  };

  return {
    "chat.message": async ({ sessionID: session }) => {
      // A prompt that is not ours is a person's.
      if (!prompted.delete(session)) continued.delete(session);
    },
    event: async ({ event }) => {
      try {
        await on[event.type]?.(event.properties);
      } catch (error) {
        await tell(`${PROGRAM}'s plugin has a defect, and the agent was let go: ${error.message}`, "error");
      }
    },
  };
};
