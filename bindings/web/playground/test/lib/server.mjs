// A file server as simple as they come: it serves a folder below a sub-path, and knows nothing else.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm", ".json": "application/json" };

/** Serves `folder` below `prefix`. */
export async function serve(folder, prefix) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const inside = path.startsWith(prefix) ? normalize(path.slice(prefix.length)) : null;
    try {
      if (inside === null || inside.startsWith("..")) throw new Error("not here");
      const name = inside === "." || inside.endsWith("/") ? "index.html" : inside;
      const content = await readFile(join(folder, name));
      response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, url: origin + prefix, close: () => server.close() };
}
