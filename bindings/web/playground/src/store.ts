// The page's state, in one place. What is shown is worked out from it anew after each change.

import { useEffect, useState } from "preact/hooks";
import type { Opened } from "./history";
import { empty, type Iteration, type Shared } from "./model";

/** Something to tell the person, above everything else. */
export interface Notice {
  tone: "info" | "problem";
  text: string;
}

interface State {
  shared: Shared;
  /** The log that is shown, taken apart. */
  opened: Opened | null;
  notice: Notice | null;
}

let state: State = { shared: empty(), opened: null, notice: null };
const listeners = new Set<() => void>();

function set(next: Partial<State>): void {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

export function current(): Shared {
  return state.shared;
}

/** Another page altogether. */
export function show(shared: Shared, notice: Notice | null = null, opened: Opened | null = null): void {
  set({ shared, notice, opened });
}

export function change(part: Partial<Shared>): void {
  set({ shared: { ...state.shared, ...part } });
}

/** Changes the iteration that is looked at. */
export function changeIteration(part: Partial<Iteration>): void {
  const { iterations, at } = state.shared;
  change({ iterations: iterations.map((iteration, index) => (index === at ? { ...iteration, ...part } : iteration)) });
}

export function tell(notice: Notice | null): void {
  set({ notice });
}

export function useStore(): State {
  const [seen, setSeen] = useState(state);
  useEffect(() => {
    const listener = () => setSeen(state);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return seen;
}
