// What opens above the page: the link to share, and the vector to keep.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { copy } from "../prose";

export function Dialog({ title, onClose, wide = false, children }: { title: string; onClose: () => void; wide?: boolean; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} class={wide ? "wide" : ""} aria-labelledby="dialog-title" onClose={onClose}>
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={() => element.current?.close()}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}

function CopyButton({ text, children }: { text: string; children: ComponentChildren }) {
  const [done, setDone] = useState<boolean | null>(null);
  useEffect(() => setDone(null), [text]);
  return (
    <>
      <button type="button" class="primary" onClick={async () => setDone(await copy(text))}>
        {children}
      </button>
      <span role="status" class="quiet">
        {done === true && "Copied."}
        {done === false && "The clipboard could not be written: select the text and copy it."}
      </span>
    </>
  );
}

/** Lets the person keep a text as a file. */
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

export function ShareDialog({ link, onClose }: { link: string; onClose: () => void }) {
  return (
    <Dialog title="Share this page" onClose={onClose}>
      <p>The link carries the whole page in its fragment, which browsers never send to a server. Whoever opens it sees what you see, decided anew by their own copy of the gate.</p>
      <textarea class="mono" rows={4} readOnly aria-label="Link" value={link} onFocus={(event) => event.currentTarget.select()} />
      <div class="buttons">
        <CopyButton text={link}>Copy the link</CopyButton>
        <span class="quiet">{link.length.toLocaleString("en")} characters</span>
      </div>
    </Dialog>
  );
}

export function VectorDialog({ make, onClose }: { make: (rule: string) => string; onClose: () => void }) {
  const [rule, setRule] = useState("what this loop shows");
  const text = make(rule);
  const onSave = () => save(`${rule.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "vector"}.json`, "application/json", text);
  return (
    <Dialog title="Export as a test vector" onClose={onClose}>
      <p>
        In the format of <code>tests/vectors</code>: the calls, what the rule says of their answers, and the whole answers. Every host of the gate runs such files.
      </p>
      <label class="field">
        Rule, in words
        <input type="text" value={rule} onInput={(event) => setRule(event.currentTarget.value)} />
      </label>
      <pre class="vector" tabIndex={0} aria-label="Vector">{text}</pre>
      <div class="buttons">
        <CopyButton text={text}>Copy</CopyButton>
        <button type="button" onClick={onSave}>
          Save as a file
        </button>
      </div>
    </Dialog>
  );
}
