// What the agent did at the end of its turn, and what it wrote, with the promise tags shown in place.

import type { EditorView } from "@codemirror/view";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isError, type Answer, type Brief, type PromiseTag } from "../answers";
import { Editor } from "../editor/editor";
import { outputExtensions, showTags } from "../editor/output";
import type { Iteration } from "../model";
import { Panel } from "../prose";
import { changeIteration } from "../store";
import { ACTIONS } from "../words";

interface Props {
  iteration: Iteration;
  tags: PromiseTag[];
  told: Answer<Brief>;
  readOnly: boolean;
}

export function OutputPanel({ iteration, tags, told, readOnly }: Props) {
  const view = useRef<EditorView | null>(null);
  useLayoutEffect(() => {
    if (view.current) showTags(view.current, tags);
  }, [tags, iteration.output, readOnly]);
  const actions = (
    <fieldset class="segments" disabled={readOnly}>
      <legend class="hidden">How the turn ended</legend>
      {ACTIONS.map((action) => (
        <label key={action}>
          <input type="radio" name="action" value={action} checked={iteration.action === action} onChange={() => changeIteration({ action })} />
          <span>{action}</span>
        </label>
      ))}
    </fieldset>
  );
  return (
    <Panel title="Agent output" id="output" class="output" aside={actions}>
      <Editor
        label="Agent output"
        value={iteration.output}
        hint="What the agent wrote at the end of its turn."
        readOnly={readOnly}
        extensions={outputExtensions}
        view={(made) => (view.current = made)}
        onChange={(output) => changeIteration({ output })}
      />
      {!isError(told) && told.token !== null && (
        <p class="told">
          The agent was told to end with a promise of <code>{told.token}</code>
        </p>
      )}
    </Panel>
  );
}
