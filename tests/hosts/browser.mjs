// A real browser for tests: headless Chromium, and files served to it on loopback with as little leave as they need.

import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const isInstalled = existsSync(join(here, "node_modules/ralph-gate-web"));

/** A project that has the package for browsers and nothing else: around this file, or in the build folder. */
export const PROJECT = isInstalled
  ? here
  : join(resolve(here, "../..", process.env.CARGO_TARGET_DIR ?? "target"), "bindings/web-installed");

/** Where the package was built, with what that and driving a browser needs. */
export const BUILT = join(PROJECT, "../web");

/** The package, as the page sees it. */
export const PACKAGE = "/node_modules/ralph-gate-web";

/** All that the package needs: its own scripts, WebAssembly, and files of its own origin. */
export const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

/** Starts Chromium, which looks for nothing in any network. */
export async function launch() {
  const { chromium } = createRequire(join(BUILT, "package.json"))("playwright-core");
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/**
 * Serves a folder on loopback.
 *
 * @param folder what is served
 * @param pages texts that are served beside it, by path
 * @param policy the Content-Security-Policy of everything
 */
export async function serve(folder, pages = {}, policy = POLICY) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    const found = pages[path] ?? (await fileIn(folder, path));
    const headers = { "content-security-policy": policy, "cache-control": "no-store" };
    if (found === undefined) return response.writeHead(404, headers).end();
    const type = TYPES[extname(path) || ".html"] ?? "application/octet-stream";
    response.writeHead(200, { ...headers, "content-type": type }).end(found);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, close };
}

async function fileIn(folder, path) {
  const file = join(folder, normalize(decodeURIComponent(path)));
  const isFile = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? readFile(file) : undefined;
}
