// Where the page begins: load the gate, read the link, show.

import { render } from "preact";
import { App } from "./app";
import { EXAMPLES, open } from "./examples";
import { gate as here, load } from "./gate";
import { LogError, openLog } from "./history";
import { empty } from "./model";
import { LinkError, unpack } from "./share";
import { show } from "./store";
import { short } from "./text";
import "./style.css";

/** Shows what the address says; without a fragment, the first example. */
async function follow(): Promise<void> {
  const fragment = location.hash.slice(1);
  const first = EXAMPLES[0];
  // A place in the page, not a page.
  if (fragment !== "" && document.getElementById(fragment)) return;
  if (fragment === "") return show(first ? open(first) : empty());
  try {
    const { shared, gate } = await unpack(fragment);
    const other = gate.digest !== here().digest();
    const text = `This link was made with gate ${gate.version.slice(0, 32)} (${short(gate.digest)}); here it is judged by gate ${here().version()} (${short(here().digest())}). Verdicts may differ.`;
    const opened = shared.log ? await openLog(shared.log) : null;
    show(shared, other ? { tone: "info", text } : null, opened);
  } catch (error) {
    if (!(error instanceof LinkError || error instanceof LogError)) throw error;
    show(empty(), { tone: "problem", text: error.message });
  }
}

async function start(): Promise<void> {
  const root = document.getElementById("app");
  if (!root) return;
  try {
    await load();
    await follow();
    root.replaceChildren();
    render(<App />, root);
    addEventListener("hashchange", () => void follow());
  } catch (error) {
    root.textContent = `The gate could not be started: ${error instanceof Error ? error.message : String(error)}`;
  }
}

void start();
