// A text editor: CodeMirror in a shadow root, where its styles need no exception from the content security policy.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightSpecialChars, keymap, placeholder } from "@codemirror/view";
import { useLayoutEffect, useRef } from "preact/hooks";
import { theme } from "./theme";

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  readOnly?: boolean;
  extensions?: Extension;
  /** Is handed the view when there is one. */
  view?: (view: EditorView) => void;
}

const BASE: Extension = [
  history(),
  drawSelection(),
  highlightSpecialChars(),
  // Only this one ends a line, so that a text is kept byte for byte.
  EditorState.lineSeparator.of("\n"),
  EditorView.lineWrapping,
  // Tab is left to the browser: it leads out of the editor.
  keymap.of([...defaultKeymap, ...historyKeymap]),
  theme,
];

export function Editor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;

  useLayoutEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const { label, hint, readOnly, value, extensions } = latest.current;
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          BASE,
          extensions ?? [],
          placeholder(hint ?? ""),
          EditorState.readOnly.of(readOnly ?? false),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", ...(readOnly ? { "aria-readonly": "true" } : {}) }),
          EditorView.updateListener.of((update) => {
            const text = update.state.doc.toString();
            if (update.docChanged && text !== latest.current.value) latest.current.onChange(text);
          }),
        ],
      }),
    });
    view.current = made;
    latest.current.view?.(made);
    return () => made.destroy();
  }, [props.readOnly, props.extensions]);

  // What was changed elsewhere: an example, a link, another iteration. At once, and not after the next paint: until then the
  // person may have written more.
  useLayoutEffect(() => {
    const shown = view.current;
    if (!shown || shown.state.doc.toString() === props.value) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: props.value } });
  }, [props.value]);

  return <div class="editor" ref={host} />;
}
