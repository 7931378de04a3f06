// The effectiveness report of several logs, or of one with many runs: the same page that the command writes, in a frame that can do nothing.

import type { EffectivenessReport } from "ralph-gate-web/history";
import { useEffect, useState } from "preact/hooks";
import { compareLogs } from "../history";
import type { Log } from "../model";
import { Dialog, save } from "./dialogs";

interface Arms {
  before: string;
  after: string;
}

export function ReportDialog({ logs, onClose }: { logs: Log[]; onClose: () => void }) {
  const [arms, setArms] = useState<Arms>({ before: "", after: "" });
  const [report, setReport] = useState<EffectivenessReport | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  const compare = async ({ before, after }: Arms) => {
    const answer = await compareLogs(logs, { by_class: true, ...(before.trim() && { before }), ...(after.trim() && { after }) });
    if ("error" in answer) {
      setReport(null);
      setProblem(answer.error.message);
      return;
    }
    const compared = JSON.parse(answer.json) as { before: { name: string }; after: { name: string } };
    setArms({ before: compared.before.name, after: compared.after.name });
    setProblem(null);
    setReport(answer);
  };
  useEffect(() => {
    setArms({ before: "", after: "" });
    void compare({ before: "", after: "" });
  }, [logs]);

  const count = logs.length === 1 ? logs[0]?.name : `${logs.length} logs`;
  return (
    <Dialog title={`Report of ${count}`} wide onClose={onClose}>
      <form class="arms" onSubmit={(event) => {
        event.preventDefault();
        void compare(arms);
      }}>
        <label>
          Before
          <input type="text" class="mono" value={arms.before} placeholder="arm=standard" onInput={({ currentTarget }) => setArms({ ...arms, before: currentTarget.value })} />
        </label>
        <label>
          After
          <input type="text" class="mono" value={arms.after} placeholder="arm=ralph" onInput={({ currentTarget }) => setArms({ ...arms, after: currentTarget.value })} />
        </label>
        <div class="buttons">
          <button type="submit" class="primary">Compare</button>
          <button type="button" disabled={!report} onClick={() => report && save("report.html", "text/html", report.html)}>Save as a page</button>
          <button type="button" disabled={!report} onClick={() => report && save("report.json", "application/json", report.json)}>Save as JSON</button>
        </div>
      </form>
      {problem && <p class="problem" role="alert">{problem}</p>}
      {!report && !problem && <p class="quiet" role="status">Comparing …</p>}
      {report && <iframe class="report" title="Effectiveness report" sandbox="" srcdoc={report.html} />}
    </Dialog>
  );
}
