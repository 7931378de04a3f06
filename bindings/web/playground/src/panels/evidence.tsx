// What the host reports beside the output: checks, artifacts, usage, and what an operator decided.

import type { ComponentChildren } from "preact";
import type { Check, Iteration } from "../model";
import { Input, Panel, Select } from "../prose";
import { changeIteration } from "../store";
import { KINDS, OUTCOMES, RESULT_CODES } from "../words";
import { PolicyPanel } from "./policy";

interface Props {
  iteration: Iteration;
  index: number;
  readOnly: boolean;
  tab: Tab;
  setTab: (tab: Tab) => void;
  /** A policy that was dropped on the page. */
  file: File | null;
  onFile: (file: File | null) => void;
}

const TABS = ["Checks", "Artifacts", "Usage", "Operator", "Policy"] as const;
export type Tab = (typeof TABS)[number];

export function EvidencePanel(props: Props) {
  const { tab, setTab } = props;
  const { checks, artifacts, tool_outputs, tampered, override, canceled } = props.iteration;
  const counts: Record<Tab, number> = {
    Checks: checks.length + tampered.length,
    Artifacts: artifacts.length + tool_outputs.length,
    Usage: 0,
    Operator: Number(Boolean(override)) + Number(Boolean(canceled)),
    Policy: 0,
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] ?? tab;
    setTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <Panel title="Evidence" id="evidence" class="evidence" aside={
      <div class="tabs" role="tablist" aria-label="Evidence" onKeyDown={onKey}>
        {TABS.map((name) => (
          <button key={name} type="button" role="tab" id={`tab-${name}`} aria-selected={name === tab} aria-controls="evidence-panel" tabIndex={name === tab ? 0 : -1} onClick={() => setTab(name)}>
            {name}
            {counts[name] > 0 && <span class="count">{counts[name]}</span>}
          </button>
        ))}
      </div>
    }>
      <div class="tab-panel" role="tabpanel" id="evidence-panel" aria-labelledby={`tab-${tab}`}>
        {tab === "Checks" && <Checks {...props} />}
        {tab === "Artifacts" && <Artifacts {...props} />}
        {tab === "Usage" && <UsageFields {...props} />}
        {tab === "Operator" && <Operator {...props} />}
        {tab === "Policy" && <PolicyPanel {...props} />}
      </div>
    </Panel>
  );
}

/** A list of which each row can be changed and taken away. */
function Rows<T>({ items, readOnly, what, add, change, row }: {
  items: T[];
  readOnly: boolean;
  what: string;
  add: () => T;
  change: (items: T[]) => void;
  row: (item: T, set: (item: T) => void, index: number) => ComponentChildren;
}) {
  return (
    <>
      <ul class="rows">
        {items.map((item, index) => (
          <li key={index} class="row">
            {row(item, (next) => change(items.map((old, at) => (at === index ? next : old))), index)}
            {!readOnly && (
              <button type="button" class="icon remove" aria-label={`Remove ${what} ${index + 1}`} title="Remove" onClick={() => change(items.filter((_, at) => at !== index))}>
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {!readOnly && (
        <button type="button" class="small" onClick={() => change([...items, add()])}>
          Add {what}
        </button>
      )}
    </>
  );
}

function Checks({ iteration: { checks, tampered }, index, readOnly }: Props) {
  return (
    <>
      <Rows
        items={checks}
        readOnly={readOnly}
        what="check result"
        add={() => ({ id: `check_${checks.length + 1}`, outcome: "pass" })}
        change={(checks) => changeIteration({ checks })}
        row={(check, set, at) => <CheckRow check={check} set={set} number={at + 1} index={index} readOnly={readOnly} />}
      />
      <h3>Tripwires that were touched</h3>
      <Rows
        items={tampered}
        readOnly={readOnly}
        what="tripwire"
        add={() => ({ what: "tests/", reason: "changed since the loop began" })}
        change={(tampered) => changeIteration({ tampered })}
        row={(item, set, index) => (
          <>
            <Input label={`What was changed ${index + 1}`} class="mono name" value={item.what} disabled={readOnly} onChange={(what) => set({ ...item, what })} />
            <Input label={`Why it counts ${index + 1}`} class="grow" value={item.reason} disabled={readOnly} onChange={(reason) => set({ ...item, reason })} />
          </>
        )}
      />
    </>
  );
}

/** The check without the fields that are empty: absent means not reported. */
function tidy(check: Check): Check {
  const { id, outcome, reason, code, attempts, iteration, fingerprint } = check;
  return {
    id,
    outcome,
    ...(reason ? { reason } : {}),
    ...(code ? { code } : {}),
    ...(attempts?.length ? { attempts } : {}),
    ...(iteration === undefined ? {} : { iteration }),
    ...(fingerprint ? { fingerprint } : {}),
  };
}

function CheckRow({ check, set, number, index, readOnly }: { check: Check; set: (check: Check) => void; number: number; index: number; readOnly: boolean }) {
  const put = (part: Partial<Check>) => set(tidy({ ...check, ...part }));
  const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);
  const { iteration: _, ...rest } = check;
  return (
    <>
      <Input label={`Id of check ${number}`} class="mono name" value={check.id} disabled={readOnly} onChange={(id) => put({ id })} />
      <Select label={`Outcome of ${check.id}`} value={check.outcome} options={OUTCOMES} disabled={readOnly} onChange={(outcome) => put({ outcome })} />
      <Input label={`Reason of ${check.id}`} class="grow" hint="reason" value={check.reason ?? ""} disabled={readOnly} onChange={(reason) => put({ reason })} />
      <details class="more" open={check.code !== undefined || (check.attempts?.length ?? 0) > 1 || (check.iteration ?? index + 1) !== index + 1}>
        <summary aria-label={`More of ${check.id}`}>more</summary>
        <div class="fields">
          <label>
            attempts
            <Input label={`Attempts of ${check.id}`} hint="fail pass" value={check.attempts?.join(" ") ?? ""} disabled={readOnly} onChange={(text) => put({ attempts: words(text) })} />
          </label>
          <label>
            of iteration
            <Input label={`Iteration of ${check.id}`} numeric value={check.iteration?.toString() ?? ""} disabled={readOnly} onChange={(text) => set(tidy(/^\d+$/.test(text) ? { ...check, iteration: Number(text) } : rest))} />
          </label>
          <label>
            of state
            <Input label={`State of ${check.id}`} class="mono" hint="fingerprint.state" value={check.fingerprint ?? ""} disabled={readOnly} onChange={(fingerprint) => put({ fingerprint })} />
          </label>
          <label>
            code
            <Select label={`Code of ${check.id}`} value={check.code ?? ""} options={["", ...RESULT_CODES]} disabled={readOnly} onChange={(code) => put({ code })} />
          </label>
        </div>
      </details>
    </>
  );
}

function Artifacts({ iteration: { artifacts, tool_outputs }, readOnly }: Props) {
  return (
    <>
      <Rows
        items={artifacts}
        readOnly={readOnly}
        what="artifact"
        add={() => ({ name: `file-${artifacts.length + 1}`, kind: "text", content: "" })}
        change={(artifacts) => changeIteration({ artifacts })}
        row={(artifact, set, index) => (
          <>
            <Input label={`Name of artifact ${index + 1}`} class="mono name" value={artifact.name} disabled={readOnly} onChange={(name) => set({ ...artifact, name })} />
            <Select label={`Kind of ${artifact.name}`} value={artifact.kind} options={KINDS} disabled={readOnly} onChange={(kind) => set({ ...artifact, kind })} />
            <Content label={`Content of ${artifact.name}`} value={artifact.content} readOnly={readOnly} onChange={(content) => set({ ...artifact, content })} />
          </>
        )}
      />
      <h3>Tool outputs</h3>
      <Rows
        items={tool_outputs}
        readOnly={readOnly}
        what="tool output"
        add={() => ({ name: `tool-${tool_outputs.length + 1}`, content: "" })}
        change={(tool_outputs) => changeIteration({ tool_outputs })}
        row={(output, set, index) => (
          <>
            <Input label={`Name of tool output ${index + 1}`} class="mono name" value={output.name} disabled={readOnly} onChange={(name) => set({ ...output, name })} />
            <Content label={`Content of ${output.name}`} value={output.content} readOnly={readOnly} onChange={(content) => set({ ...output, content })} />
          </>
        )}
      />
    </>
  );
}

function Content({ label, value, readOnly, onChange }: { label: string; value: string; readOnly: boolean; onChange: (value: string) => void }) {
  return <textarea class="mono grow" rows={2} aria-label={label} value={value} readOnly={readOnly} spellcheck={false} onInput={(event) => onChange(event.currentTarget.value)} />;
}

function UsageFields({ iteration: { usage }, readOnly }: Props) {
  const count = (name: "elapsed_ms" | "tool_calls" | "tokens", label: string) => {
    const { [name]: _, ...rest } = usage;
    const set = (text: string) => changeIteration({ usage: /^\d{1,9}$/.test(text) ? { ...rest, [name]: Number(text) } : rest });
    return (
      <label>
        {label}
        <Input label={label} numeric hint="0" value={usage[name]?.toString() ?? ""} disabled={readOnly} onChange={set} />
      </label>
    );
  };
  const { cost_usd: _, ...rest } = usage;
  return (
    <>
      <div class="fields">
        {count("elapsed_ms", "milliseconds")}
        {count("tool_calls", "tool calls")}
        <label>
          US dollars
          <Input label="US dollars" numeric hint="0.00" value={usage.cost_usd ?? ""} disabled={readOnly} onChange={(text) => changeIteration({ usage: text === "" ? rest : { ...rest, cost_usd: text } })} />
        </label>
        {count("tokens", "tokens")}
      </div>
      <p class="quiet">What this iteration used. The gate adds it up.</p>
    </>
  );
}

function Operator({ iteration: { canceled, override }, readOnly }: Props) {
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={canceled ?? false} disabled={readOnly} onChange={(event) => changeIteration({ canceled: event.currentTarget.checked })} />
        The loop was canceled
      </label>
      <label class="check">
        <input type="checkbox" checked={Boolean(override)} disabled={readOnly} onChange={(event) => changeIteration({ override: event.currentTarget.checked ? { operator: "alice", reason: "looked at by hand" } : null })} />
        An operator completes the loop by hand
      </label>
      {override && (
        <div class="fields">
          <label>
            operator
            <Input label="operator" value={override.operator} disabled={readOnly} onChange={(operator) => changeIteration({ override: { ...override, operator } })} />
          </label>
          <label>
            reason
            <Input label="reason" value={override.reason} disabled={readOnly} onChange={(reason) => changeIteration({ override: { ...override, reason } })} />
          </label>
        </div>
      )}
    </>
  );
}
