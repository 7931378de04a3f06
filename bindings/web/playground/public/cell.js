// Starts a Worker from the code that the page sends, hands on what it is given, and ends it when its time is over.

"use strict";

addEventListener("message", ({ data, source }) => {
  if (source !== parent || !data || data.kind !== "run") return;
  // Not a blob: browsers refuse to start a Worker from one in an opaque origin.
  const worker = new Worker(`data:text/javascript;charset=utf-8,${encodeURIComponent(data.code)}`, { type: "module" });
  const answer = (message) => {
    clearTimeout(clock);
    worker.terminate();
    parent.postMessage({ run: data.run, ...message }, "*");
  };
  const clock = setTimeout(() => answer({ kind: "late" }), data.limit);
  worker.addEventListener("message", ({ data }) => answer({ kind: "answer", answer: data }));
  worker.addEventListener("error", (event) => answer({ kind: "broken", message: event.message || "the Worker could not be started" }));
  worker.postMessage(data.given);
});

parent.postMessage({ kind: "ready" }, "*");
