// The built site in Chromium, as every test uses it: from a file server, below a sub-path, watched for whatever it asks for.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { launch } from "./browser.mjs";
import { serve } from "./server.mjs";

export const here = resolve(import.meta.dirname, "../..");
export const root = resolve(here, "../../..");
export const site = process.env.RALPH_GATE_PLAYGROUND ?? join(here, "dist");

/** A page with the playground on it. `close` sees to it that nothing went wrong and nothing left the origin. */
export async function open(options = {}) {
  const server = await serve(site, "/some/where/");
  const { context, close } = await launch(options);
  const strangers = [];
  const errors = [];
  context.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== server.origin && protocol !== "data:" && protocol !== "blob:") strangers.push(request.url());
  });
  const page = context.pages()[0];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await visit(page, server.url);
  return {
    page,
    context,
    url: server.url,
    origin: server.origin,
    errors,
    close: async () => {
      await close();
      server.close();
      assert.deepEqual(strangers, [], "no request leaves the origin");
      assert.deepEqual(errors, [], "nothing is refused and nothing breaks");
    },
  };
}

/** Opens an address anew, also where only its fragment differs. */
export async function visit(page, url) {
  await page.goto("about:blank");
  await page.goto(url);
  await page.locator("#verdict").waitFor();
}

/** Writes a text into an editor, in place of what is there. */
export async function write(page, name, text) {
  await page.getByRole("textbox", { name, exact: true }).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  if (text) await page.keyboard.insertText(text);
}

/** Checks again with each frame until it holds: what was typed is shown with one of the next frames. */
export async function eventually(page, check) {
  const end = Date.now() + 15_000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
  }
}

/** What is in an editor. */
export function written(page, name) {
  return page.getByRole("textbox", { name, exact: true }).evaluate((element) => {
    const lines = [...element.querySelectorAll(".cm-line")].map((line) => {
      const copy = line.cloneNode(true);
      copy.querySelectorAll(".cm-tag-why, .cm-placeholder").forEach((label) => label.remove());
      return copy.textContent;
    });
    return lines.join("\n");
  });
}

/** The gate's whole answer, as the page shows it. */
export async function answer(page) {
  const text = await page.locator(".raw pre").textContent();
  return JSON.parse(text);
}

export async function choose(page, id) {
  await page.locator(`[data-example="${id}"]`).click();
  await page.locator(`[data-example="${id}"][aria-current="true"]`).waitFor({ state: "attached" });
}

/** Drops a file on the page, as a person does with a mouse. */
export function drop(page, name, bytes) {
  return dropAll(page, [[name, bytes]]);
}

/** Drops several files at once. */
export function dropAll(page, files) {
  return page.evaluate((files) => {
    const transfer = new DataTransfer();
    for (const [name, text] of files) {
      const content = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
      transfer.items.add(new File([content], name));
    }
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, files.map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]));
}

/** Drops files and folders of the disk, through the debugger: only so a page sees folders. */
export async function dropPaths(page, paths) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) await session.send("Input.dispatchDragEvent", { type, x: 400, y: 300, data });
  await session.detach();
}

/** Every example's file, by its id. */
export async function examples() {
  const folder = join(here, "examples");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  const read = async (name) => [name.replace(/^\d+-|\.json$/g, ""), JSON.parse(await readFile(join(folder, name), "utf8"))];
  return Promise.all(names.map(read));
}

/** A vector of the gate's, by its path below tests/vectors. */
export async function vector(path) {
  return JSON.parse(await readFile(join(root, "tests/vectors", path), "utf8"));
}
