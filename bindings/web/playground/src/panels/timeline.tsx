// The loop, one cell an iteration: what was decided, and what another contract would have decided.

import { useRef } from "preact/hooks";
import { isError } from "../answers";
import type { Opened } from "../history";
import { Prose } from "../prose";
import { change } from "../store";
import { capital } from "../text";
import { rulingOf, type Seen, type View } from "../view";
import { summary, toneOf } from "../words";

interface Props {
  view: View;
  at: number;
  onNext: (() => void) | null;
  onRemove: (() => void) | null;
  onAccept: () => void;
  onPutBack: (() => void) | null;
  /** A loop that can be changed, made of a log. */
  onCopy: (() => void) | null;
  opened: Opened | null;
}

export function Timeline({ view, at, onNext, onRemove, onAccept, onPutBack, onCopy, opened }: Props) {
  const { seen, compared } = view;
  const changed = seen.filter((one) => one.changed).length;
  return (
    <section class="timeline" aria-labelledby="loop">
      <div class="timeline-head">
        <h2 id="loop">Loop</h2>
        <p class="timeline-what">
          {compared ? <Compared view={view} changed={changed} /> : `Iteration ${at + 1} of ${seen.length}`}
        </p>
        <div class="buttons">
          {compared && (
            <>
              {onPutBack && <button type="button" class="small" onClick={onPutBack}>Put the contract back</button>}
              {!view.log && <button type="button" class="small" onClick={onAccept}>Begin the loop with it</button>}
            </>
          )}
          {onCopy && <button type="button" class="small" onClick={onCopy}>Edit a copy</button>}
          {onRemove && seen.length > 1 && <button type="button" class="small" onClick={onRemove}>Remove the last</button>}
          {onNext && <button type="button" class="small primary" onClick={onNext}>Next iteration</button>}
        </div>
      </div>
      <Scrubber seen={seen} at={at} compared={compared} />
      {opened && <Provenance opened={opened} contract={view.report.contract} />}
      {view.notes.map((note) => (
        <p key={note} class="timeline-note"><Prose text={`${capital(note)}.`} /></p>
      ))}
    </section>
  );
}

/** Whether a log is whole, and whether the gate still says the same. */
function Provenance({ opened, contract }: { opened: Opened; contract: string | null }) {
  const { report } = opened;
  const replay = opened.replay(opened.contract === null ? (contract ?? "") : "");
  const chain = report.breaks.length === 0 ? "The chain of events is whole" : `The chain of events is broken in ${report.breaks.length} places`;
  const again = "error" in replay ? replay.error.message.replace(/\.$/, "") : replay.same ? "every verdict was reproduced byte for byte" : `${replay.equal} verdicts were reproduced, ${replay.different} differ, ${replay.not_replayed} could not be evaluated again`;
  return <p class="timeline-note"><Prose text={`${chain}; ${again}.`} /></p>;
}

function Compared({ view, changed }: { view: View; changed: number }) {
  const { saved, seen, report } = view;
  if (!report.valid) return <>This contract has problems: there is nothing to compare</>;
  const what = changed === 0 ? "no decision changes" : changed === 1 ? "1 decision changes" : `${changed} decisions change`;
  return (
    <>
      With this contract <strong>{what}</strong> of {seen.length}
      {saved && `; it saves ${saved.iterations} ${saved.iterations === 1 ? "iteration" : "iterations"}`}
      {saved && Number(saved.cost_usd) > 0 && ` and ${saved.cost_usd} US dollars`}
    </>
  );
}

/** Moves through the iterations: drag, click, arrow keys, Home, End. */
function Scrubber({ seen, at, compared }: { seen: Seen[]; at: number; compared: boolean }) {
  const track = useRef<HTMLDivElement>(null);
  const go = (to: number) => change({ at: Math.max(0, Math.min(seen.length - 1, to)) });
  const onPointer = (event: PointerEvent) => {
    if (!track.current || (event.type === "pointermove" && event.buttons === 0)) return;
    const under = [...track.current.children].findIndex((cell) => {
      const { left, right } = cell.getBoundingClientRect();
      return event.clientX >= left - 2 && event.clientX <= right + 2;
    });
    if (under >= 0 && under !== at) go(under);
  };
  const onKey = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + 10, PageDown: at - 10, Home: 0, End: seen.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  const now = seen[at];
  return (
    <div
      class={`scrubber ${seen.length > 40 ? "dense" : ""}`}
      ref={track}
      role="slider"
      tabIndex={0}
      aria-label="Iteration"
      aria-valuemin={1}
      aria-valuemax={seen.length}
      aria-valuenow={at + 1}
      aria-valuetext={now ? spoken(now, seen.length) : ""}
      onKeyDown={onKey}
      onPointerDown={onPointer}
      onPointerMove={onPointer}
    >
      {seen.map((one) => (
        <div key={one.index} class={`cell ${one.index === at ? "now" : ""} ${one.changed ? "changed" : ""}`} title={spoken(one, seen.length)}>
          <span class={`bar tone-${toneOf(rulingOf(one.recorded))}`}>{one.index + 1}</span>
          {compared && <span class={`bar other ${one.other ? `tone-${toneOf(rulingOf(one.other))}` : "absent"}`} />}
        </div>
      ))}
    </div>
  );
}

function spoken(one: Seen, count: number): string {
  const recorded = isError(one.recorded) ? one.recorded.error.code : summary(one.recorded);
  const other = one.state === "recorded" ? "" : `; with this contract: ${one.other ? (isError(one.other) ? one.other.error.code : summary(one.other)) : one.state.replaceAll("_", " ")}`;
  return `Iteration ${one.index + 1} of ${count}: ${recorded}${other}`;
}
