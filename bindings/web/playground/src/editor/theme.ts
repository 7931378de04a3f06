// How the editors look: the page's own colours, which reach into the shadow root as custom properties.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": { minHeight: "98px", maxHeight: "240px", fontSize: "13px", color: "var(--text)", backgroundColor: "var(--surface)", borderRadius: "0 0 7px 7px" },
  "&.cm-focused": { outline: "none" },
  "&:focus-within": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontVariantLigatures: "none", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 14px" },
  ".cm-gutters": { backgroundColor: "transparent", border: "none", color: "var(--faint)" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0 0 12px", minWidth: "18px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection)" },
  ".cm-placeholder": { color: "var(--faint)" },
  ".cm-specialChar": { color: "var(--halt)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--halt)", textUnderlineOffset: "3px", textDecorationSkipInk: "none" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--hold)", textUnderlineOffset: "3px", textDecorationSkipInk: "none" },
  ".cm-tooltip": { border: "1px solid var(--line-strong)", borderRadius: "7px", backgroundColor: "var(--surface)", color: "var(--text)", boxShadow: "var(--shadow)", overflow: "hidden" },
  ".cm-tooltip-lint": { padding: "2px 0" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", fontSize: "13px", lineHeight: "1.45", padding: "6px 12px", borderLeft: "none", whiteSpace: "pre-line", maxWidth: "380px" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--halt)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--hold)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "13px", maxHeight: "240px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 12px", lineHeight: "1.5" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--muted)" },
  ".cm-tooltip.cm-completionInfo": { fontFamily: "var(--sans)", fontSize: "13px", lineHeight: "1.45", padding: "8px 12px", maxWidth: "300px" },
  ".cm-tag": { borderRadius: "3px", boxDecorationBreak: "clone" },
  ".cm-tag-accepted": { backgroundColor: "var(--go-bg)", boxShadow: "inset 0 -2px 0 var(--go)" },
  ".cm-tag-refused": { backgroundColor: "var(--halt-bg)", boxShadow: "inset 0 -2px 0 var(--halt)" },
  ".cm-tag-why": { fontFamily: "var(--sans)", fontSize: "12px", marginLeft: "8px", padding: "1px 7px", borderRadius: "9px", whiteSpace: "normal" },
  ".cm-tag-why-accepted": { color: "var(--go)", backgroundColor: "var(--go-bg)" },
  ".cm-tag-why-refused": { color: "var(--halt)", backgroundColor: "var(--halt-bg)" },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: tags.string, color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-value)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.punctuation, color: "var(--muted)" },
]);

export const theme: Extension = [look, syntaxHighlighting(colours)];
