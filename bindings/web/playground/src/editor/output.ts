// The promise tags in the agent's output, shown in place: which was accepted, which was refused, and why.

import { type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { PromiseTag } from "../answers";
import { fromBytes } from "../text";

const setTags = StateEffect.define<PromiseTag[]>();

class Why extends WidgetType {
  constructor(readonly tag: PromiseTag) {
    super();
  }

  override eq(other: Why): boolean {
    return other.tag.status === this.tag.status && other.tag.reason === this.tag.reason;
  }

  override toDOM(): HTMLElement {
    const accepted = this.tag.status === "accepted";
    const element = document.createElement("span");
    element.className = `cm-tag-why cm-tag-why-${accepted ? "accepted" : "refused"}`;
    element.textContent = accepted ? "accepted" : `refused: ${this.tag.status.replaceAll("_", " ")}`;
    element.title = this.tag.reason;
    return element;
  }
}

function decorate(text: string, tags: PromiseTag[]): DecorationSet {
  const places = placesOf(text, tags);
  const builder = new RangeSetBuilder<Decoration>();
  const ends: { at: number; tag: PromiseTag }[] = [];
  for (const { from, to, tag } of places) {
    const accepted = tag.status === "accepted";
    if (to > from) builder.add(from, to, Decoration.mark({ class: `cm-tag cm-tag-${accepted ? "accepted" : "refused"}` }));
    ends.push({ at: to, tag });
  }
  const marks = builder.finish();
  const labels = ends.map(({ at, tag }) => Decoration.widget({ widget: new Why(tag), side: 1 }).range(at));
  return marks.update({ add: labels, sort: true });
}

/** Where tags stand in a text. */
export function placesOf(text: string, tags: PromiseTag[]): { from: number; to: number; tag: PromiseTag }[] {
  const offsets = [...new Set(tags.flatMap(({ offset, length }) => [offset, offset + length]))].sort((a, b) => a - b);
  const found = fromBytes(text, offsets);
  const place = new Map(offsets.map((offset, index) => [offset, found[index] ?? 0]));
  const of = (offset: number) => place.get(offset) ?? 0;
  return tags.map((tag) => ({ from: of(tag.offset), to: of(tag.offset + tag.length), tag })).sort((a, b) => a.from - b.from || a.to - b.to);
}

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setTags)) return decorate(transaction.state.doc.toString(), effect.value);
    }
    return shown.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

export const outputExtensions: Extension = [field];

/** Shows the tags of a report about the text in the editor. */
export function showTags(view: EditorView, tags: PromiseTag[]): void {
  view.dispatch({ effects: setTags.of(tags) });
}
