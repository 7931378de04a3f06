// The page: examples on the left, what the gate is given in the middle, what it says on the right.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isError } from "./answers";
import { EXAMPLES, isAs } from "./examples";
import { dropped } from "./drop";
import { hasManyRuns, LogError, openLog, readLogs } from "./history";
import { brief } from "./loop";
import { EMPTY_ITERATION, empty, following, type Log } from "./model";
import { ContractPanel } from "./panels/contract";
import { ShareDialog, VectorDialog } from "./panels/dialogs";
import { EvidencePanel, type Tab } from "./panels/evidence";
import { Gallery } from "./panels/gallery";
import { OutputPanel } from "./panels/output";
import { ReportDialog } from "./panels/report";
import { Timeline } from "./panels/timeline";
import { VerdictPanel } from "./panels/verdict";
import { Prose } from "./prose";
import { LinkError, pack } from "./share";
import { change, current, show, tell, useStore } from "./store";
import { useTheme } from "./theme";
import { vector } from "./vector";
import { rulingOf, view as look } from "./view";
import { headline, summary, toneOf } from "./words";

type Open = { kind: "share"; link: string } | { kind: "vector" } | { kind: "report"; logs: Log[] } | null;

export function App() {
  const { shared, notice, opened } = useStore();
  const [dialog, setDialog] = useState<Open>(null);
  const [gallery, setGallery] = useState(false);
  const [tab, setTab] = useState<Tab>("Checks");
  const [policy, setPolicy] = useState<File | null>(null);
  const view = useMemo(() => look(shared, opened), [shared, opened]);
  const at = Math.min(shared.at, view.seen.length - 1);
  const iteration = view.iterations[at] ?? EMPTY_ITERATION;
  const seen = view.seen[at];
  const answer = seen ? (seen.state === "recorded" ? seen.recorded : seen.other) : null;
  const ruling = rulingOf(answer);
  const tags = useMemo(() => (answer && !isError(answer) ? answer.promise.tags : []), [answer]);
  const told = useMemo(() => brief(shared.contract, view.seen[at - 1]?.other ?? view.seen[at - 1]?.recorded), [shared.contract, view, at]);
  const last = rulingOf(view.seen.at(-1)?.other ?? view.seen.at(-1)?.recorded);
  const readOnly = view.log !== null;
  const pinned = opened ? opened.contract : shared.pinned;

  const onFiles = (files: File[]) => {
    const logs = files.filter(({ name }) => !/\.(json|ya?ml|toml|wasm)$/.test(name));
    for (const file of files.filter((file) => !logs.includes(file))) {
      if (!file.name.endsWith(".wasm")) return void file.text().then((contract) => change({ contract }));
      setTab("Policy");
      setPolicy(file);
    }
    if (logs.length > 0) void showLogs(logs, (logs) => setDialog({ kind: "report", logs }));
  };
  useDrop(onFiles);
  const onShare = async () => {
    try {
      const fragment = await pack(shared);
      history.replaceState(null, "", `#${fragment}`);
      setDialog({ kind: "share", link: location.href });
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      tell({ tone: "problem", text: error.message });
    }
  };
  const onNext = () => {
    const { iterations, contract, pinned } = current();
    const next = following(iterations.at(-1) ?? EMPTY_ITERATION);
    change({ iterations: [...iterations, next], at: iterations.length, pinned: pinned ?? contract });
  };
  const onRemove = () => {
    const iterations = shared.iterations.slice(0, -1);
    change({ iterations, at: Math.min(shared.at, iterations.length - 1), pinned: iterations.length > 1 ? shared.pinned : null });
  };
  const example = EXAMPLES.find(({ id }) => id === shared.example);

  return (
    <div class="app">
      <a class="skip" href="#verdict">Skip to the verdict</a>
      <Top onShare={onShare} onVector={() => setDialog({ kind: "vector" })} onGallery={() => setGallery(!gallery)} gallery={gallery} onNew={() => show(empty())} onFiles={onFiles} />
      {notice && (
        <div class={`notice ${notice.tone}`} role={notice.tone === "problem" ? "alert" : "status"}>
          <p>{notice.text}</p>
          <button type="button" class="icon" aria-label="Dismiss" onClick={() => tell(null)}>×</button>
        </div>
      )}
      <div class={`body ${gallery ? "with-gallery" : ""}`}>
        <Gallery chosen={shared.example} onChosen={() => setGallery(false)} />
        <main>
          <Timeline
            view={view}
            at={at}
            onNext={!readOnly && last !== null && last.decision !== "stop" ? onNext : null}
            onRemove={readOnly ? null : onRemove}
            opened={opened}
            onAccept={() => change({ pinned: shared.contract })}
            onPutBack={pinned === null ? null : () => change({ contract: pinned })}
            onCopy={opened ? () => show({ ...shared, iterations: view.iterations, pinned: opened.contract ?? shared.contract, log: null, example: null }) : null}
          />
          <div class="columns">
            <div class="inputs">
              <ContractPanel text={shared.contract} report={view.report} />
              <OutputPanel iteration={iteration} tags={tags} told={told} readOnly={readOnly} />
              <EvidencePanel iteration={iteration} index={at} readOnly={readOnly} tab={tab} setTab={setTab} file={policy} onFile={setPolicy} />
            </div>
            <VerdictPanel answer={answer} recorded={view.compared ? rulingOf(seen?.recorded) : null} changed={seen?.changed ?? false}>
              {example && (
                <aside class="story" aria-label="Example">
                  <p class="story-title">{example.title}</p>
                  <p><Prose text={example.story} /></p>
                  {isAs(example, shared) && (
                    <p class="expected">
                      Expected: <strong>{[summary(example.expect), ...example.expect.failures.map(({ code }) => code)].join(", ")}</strong>
                    </p>
                  )}
                </aside>
              )}
            </VerdictPanel>
          </div>
        </main>
      </div>
      <a class={`summary-bar tone-${toneOf(ruling)}`} href="#verdict">
        <strong>{headline(ruling)}</strong> <span>{summary(ruling)}</span>
      </a>
      <p class="hidden" role="status">{headline(ruling)}: {summary(ruling)}</p>
      {dialog?.kind === "share" && <ShareDialog link={dialog.link} onClose={() => setDialog(null)} />}
      {dialog?.kind === "report" && <ReportDialog logs={dialog.logs} onClose={() => setDialog(null)} />}
      {dialog?.kind === "vector" && (
        <VectorDialog make={(rule) => vector(rule, shared.contract, view.iterations)} onClose={() => setDialog(null)} />
      )}
    </div>
  );
}

/** Shows an event log in the timeline; several, or one with many runs, as a report. */
async function showLogs(files: File[], report: (logs: Log[]) => void): Promise<void> {
  try {
    const [log, ...others] = await readLogs(files);
    if (!log) return;
    if (others.length > 0 || hasManyRuns(log)) return report([log, ...others]);
    await showLog(log);
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    tell({ tone: "problem", text: error.message });
  }
}

async function showLog(log: Log): Promise<void> {
  const opened = await openLog(log);
  const [first] = opened.report.breaks;
  const warning = first ? `The log is not what was written: line ${first.line}, ${first.message}` : null;
  const noContract = opened.contract === null ? "This log does not carry its contract. Drop the contract.json of its session on the page, or write one to compare with." : null;
  const text = [warning, noContract].filter(Boolean).join(" ");
  show({ ...empty(), contract: opened.contract ?? current().contract, log }, text ? { tone: warning ? "problem" : "info", text } : null, opened);
}

/** Takes files and folders that are dropped anywhere on the page. */
function useDrop(onFiles: (files: File[]) => void): void {
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      if (event.dataTransfer) void dropped(event.dataTransfer).then((files) => latest.current(files));
    };
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
    };
  }, []);
}

interface TopProps {
  onShare: () => void;
  onVector: () => void;
  onGallery: () => void;
  onNew: () => void;
  onFiles: (files: File[]) => void;
  gallery: boolean;
}

function Top({ onShare, onVector, onGallery, onNew, onFiles, gallery }: TopProps) {
  const [theme, choose] = useTheme();
  const file = useRef<HTMLInputElement>(null);
  const other = theme === "dark" ? "light" : "dark";
  return (
    <header class="top">
      <h1>
        <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
          <path d="M3 17V6.5a7 7 0 0 1 14 0V17M3 11h14M10 0v17" fill="none" stroke="currentColor" stroke-width="1.8" />
        </svg>
        ralph-gate <span>playground</span>
      </h1>
      <div class="buttons">
        <button type="button" class="only-narrow" aria-expanded={gallery} aria-controls="gallery" onClick={onGallery}>Examples</button>
        <button type="button" onClick={onNew}>New</button>
        <button type="button" onClick={() => file.current?.click()}>Open logs</button>
        <input ref={file} type="file" class="hidden" tabIndex={-1} aria-label="Event logs" accept=".jsonl" multiple onChange={({ currentTarget }) => {
          const chosen = [...(currentTarget.files ?? [])];
          currentTarget.value = "";
          onFiles(chosen);
        }} />
        <button type="button" onClick={onVector}>Export</button>
        <button type="button" class="primary" onClick={onShare}>Share</button>
        <button type="button" class="icon" aria-label={`Use the ${other} theme`} title={`Use the ${other} theme`} onClick={() => choose(other)}>
          <svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">
            <circle cx="10" cy="10" r="7" fill="none" stroke="currentColor" stroke-width="1.6" />
            <path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" />
          </svg>
        </button>
      </div>
    </header>
  );
}
