// A policy that somebody dropped on the page: what it says of itself, and how it judges this iteration.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Check, Iteration } from "../model";
import { LIMIT_MS, PolicyError, read, run, type Policy, type Result } from "../policy/run";
import { Prose } from "../prose";
import { changeIteration } from "../store";
import { short } from "../text";

interface Props {
  iteration: Iteration;
  index: number;
  readOnly: boolean;
  /** What was dropped on the page. */
  file: File | null;
  onFile: (file: File | null) => void;
}

type Stand = { kind: "none" } | { kind: "reading" } | { kind: "refused"; why: string } | { kind: "ready"; policy: Policy; result: Result | null };

export function PolicyPanel({ iteration, index, readOnly, file, onFile }: Props) {
  const [stand, setStand] = useState<Stand>({ kind: "none" });
  const [settings, setSettings] = useState("{}");
  const picker = useRef<HTMLInputElement>(null);

  const judge = async (policy: Policy) => {
    setStand({ kind: "ready", policy, result: null });
    setStand({ kind: "ready", policy, result: await run(policy, iteration, index, settings) });
  };
  useEffect(() => {
    if (!file) return;
    setStand({ kind: "reading" });
    read(file).then(judge, (error: unknown) => {
      if (!(error instanceof PolicyError)) throw error;
      setStand({ kind: "refused", why: error.message });
    });
  }, [file]);

  return (
    <div class="policy" aria-live="polite">
      <div class="buttons">
        <button type="button" class="small" onClick={() => picker.current?.click()}>
          Choose a policy
        </button>
        <span class="quiet">or drop a <code>.wasm</code> component anywhere on the page</span>
        <input ref={picker} type="file" class="hidden" tabIndex={-1} aria-label="Policy" accept=".wasm" onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)} />
      </div>
      {stand.kind === "reading" && <p>Taking it apart …</p>}
      {stand.kind === "refused" && (
        <p class="tone-halt answer">
          <Prose text={stand.why} />
        </p>
      )}
      {stand.kind === "ready" && (
        <>
          <p class="quiet">
            {stand.policy.file}, {stand.policy.size.toLocaleString("en")} bytes, BLAKE3 <code title={stand.policy.digest}>{short(stand.policy.digest)}</code>
          </p>
          {stand.result ? <Outcome result={stand.result} /> : <p>Running …</p>}
          <label class="field">
            Settings, as JSON
            <input type="text" class="mono" value={settings} spellcheck={false} onInput={(event) => setSettings(event.currentTarget.value)} />
          </label>
          <div class="buttons">
            <button type="button" class="small" onClick={() => void judge(stand.policy)}>
              Run it on this iteration
            </button>
            {stand.result && !readOnly && (
              <button type="button" class="small" onClick={() => stand.result && report(stand.result, stand.policy, iteration)}>
                Use it as a check result
              </button>
            )}
          </div>
        </>
      )}
      <p class="quiet">
        Here a policy runs in a Worker of its own, without network, that is ended after {LIMIT_MS / 1000} seconds. Fuel is not metered and memory is bounded by the browser alone: for limits that are the same everywhere, run it with <code>ralph-gate policy</code>.
      </p>
    </div>
  );
}

function Outcome({ result }: { result: Result }) {
  if (result.kind === "late") return <p class="tone-halt answer">It was ended: no answer within {result.limit / 1000} seconds.</p>;
  if (result.kind === "trapped") return <p class="tone-halt answer">It trapped: {result.message}</p>;
  const { name, version, summary } = result.description;
  return (
    <div class="described">
      <p>
        <strong>{name || "without a name"}</strong> {version} <span class="quiet">{summary}</span>
      </p>
      {result.kind === "missing" ? (
        <p class="tone-hold answer">Not run: it can't do without {result.missing.join(", ")}. Add that as an artifact.</p>
      ) : (
        <>
          <p class={`answer tone-${result.outcome === "pass" ? "go" : "halt"}`}>
            <strong>{result.outcome}</strong>
          </p>
          <ul>
            {result.reasons.map((reason, at) => (
              <li key={at}>{reason}</li>
            ))}
            {result.more > 0 && <li class="quiet">and {result.more} more</li>}
          </ul>
        </>
      )}
    </div>
  );
}

/** Puts what came of it among the evidence, in place of what was there under its name. */
function report(result: Result, policy: Policy, { checks }: Iteration): void {
  const described = result.kind === "judged" || result.kind === "missing" ? result.description.name : "";
  const id = (described || policy.file.replace(/\.wasm$/, "")).replace(/\s+/g, "_") || "policy";
  const check: Check = { id, ...found(result) };
  changeIteration({ checks: [...checks.filter((old) => old.id !== id), check] });
}

function found(result: Result): { outcome: string; reason: string } {
  switch (result.kind) {
    case "judged":
      return { outcome: result.outcome, reason: result.reasons.join("; ") };
    case "missing":
      return { outcome: "unknown", reason: `it wants ${result.missing.join(", ")}` };
    case "late":
      return { outcome: "timeout", reason: `no answer within ${result.limit} ms` };
    case "trapped":
      return { outcome: "error", reason: result.message };
  }
}
