// Small pieces that every panel uses.

import type { ComponentChildren } from "preact";

/** A sentence in which `names` are set as code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}

/** A part of the page with a heading of its own. */
export function Panel({ title, id, aside, children, class: name = "" }: { title: string; id: string; aside?: ComponentChildren; children: ComponentChildren; class?: string }) {
  return (
    <section class={`panel ${name}`} aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** A part of the verdict. */
export function Part({ title, note, children }: { title: string; note?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>
        {title} {note !== undefined && <span class="note">{note}</span>}
      </h3>
      {children}
    </section>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: string[];
  onChange: (value: string) => void;
  disabled?: boolean;
}

export function Select({ label, value, options, onChange, disabled }: SelectProps) {
  const known = options.includes(value) ? options : [value, ...options];
  return (
    <select aria-label={label} value={value} disabled={disabled ?? false} onChange={(event) => onChange(event.currentTarget.value)}>
      {known.map((option) => (
        <option key={option} value={option}>
          {option === "" ? "–" : option}
        </option>
      ))}
    </select>
  );
}

interface InputProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: string;
  class?: string;
  disabled?: boolean;
  numeric?: boolean;
}

export function Input({ label, value, onChange, hint, class: name, disabled, numeric }: InputProps) {
  return (
    <input
      type="text"
      class={name ?? ""}
      aria-label={label}
      placeholder={hint ?? ""}
      value={value}
      readOnly={disabled ?? false}
      inputMode={numeric ? "decimal" : "text"}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** Copies a text, and says so. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
