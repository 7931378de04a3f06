// The contract: its text, and what the gate says about it.

import type { EditorView } from "@codemirror/view";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ContractReport, Problem } from "../answers";
import { contractExtensions, placeOf, underline } from "../editor/contract";
import { Editor } from "../editor/editor";
import { Panel, Prose } from "../prose";
import { change } from "../store";
import { short } from "../text";

const HINT = "A contract in YAML, JSON or TOML. Ctrl+Space completes.";

export function ContractPanel({ text, report }: { text: string; report: ContractReport }) {
  const view = useRef<EditorView | null>(null);
  useLayoutEffect(() => {
    if (view.current) underline(view.current, report);
  }, [report]);
  const go = (problem: Problem) => {
    if (!view.current) return;
    const { from, to } = placeOf(view.current.state.doc, problem);
    view.current.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
    view.current.focus();
  };
  return (
    <Panel title="Contract" id="contract" class="contract" aside={<Standing report={report} />}>
      <Editor label="Contract" value={text} hint={HINT} extensions={contractExtensions} view={(made) => (view.current = made)} onChange={(contract) => change({ contract })} />
      <Problems problems={report.problems} tone="halt" go={go} />
      <Problems problems={report.warnings} tone="hold" go={go} />
    </Panel>
  );
}

function Standing({ report }: { report: ContractReport }) {
  if (report.valid) return <span class="aside">{report.digest && <>digest <code title={report.digest}>{short(report.digest)}</code></>}</span>;
  const count = report.problems.length;
  return <span class="aside tone-halt">{count === 1 ? "1 problem" : `${count} problems`}</span>;
}

function Problems({ problems, tone, go }: { problems: Problem[]; tone: string; go: (problem: Problem) => void }) {
  if (problems.length === 0) return null;
  return (
    <ul class={`problems tone-${tone}`}>
      {problems.map((problem, index) => (
        <li key={index}>
          <button type="button" class="problem" onClick={() => go(problem)}>
            {problem.line > 0 && <span class="where">{problem.line}:{problem.column}</span>}
            <span>
              <Prose text={problem.message} />
              {problem.help && <span class="help"> <Prose text={problem.help} /></span>}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
