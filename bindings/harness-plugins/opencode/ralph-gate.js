// Asks ralph-gate whether the agent may stop, and gives its reason to the agent as the next prompt.
import { spawnSync } from "node:child_process";

const COMMAND = "ralph-gate";

// The sessions that go on because they were told so.
const continued = new Set();

const ask = (directory, session, text) => {
  const event = {
    harness: "opencode",
    hook_event_name: "Stop",
    session_id: session,
    cwd: directory,
    last_assistant_message: text,
    stop_hook_active: continued.has(session),
  };
  const asked = spawnSync(COMMAND, ["hook", "opencode"], { input: JSON.stringify(event), encoding: "utf8" });
  if (asked.status !== 0 || asked.stdout === "") return undefined;
  const { decision, reason } = JSON.parse(asked.stdout);
  return decision === "block" ? reason : undefined;
};

export const RalphGate = async ({ client, directory }) => ({
  "experimental.text.complete": async (input, output) => {
    const path = { id: input.sessionID, messageID: input.messageID };
    const message = await client.session.message({ path });
    // A message with a tool is not the last one.
    if (message.data.parts.some((part) => part.type === "tool")) return;
    const reason = ask(directory, input.sessionID, output.text);
    if (reason === undefined) {
      continued.delete(input.sessionID);
      return;
    }
    continued.add(input.sessionID);
    const body = { noReply: true, parts: [{ type: "text", text: reason }] };
    await client.session.prompt({ path: { id: input.sessionID }, body });
  },
});
