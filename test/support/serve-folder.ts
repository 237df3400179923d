/** A static server: the files of a folder, with ranges and ETags, as any web server sends them. */
import { hash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

export async function serveFolder(folder: string) {
  const requests: { readonly name: string; readonly bytes: number }[] = [];
  const server = createServer((request, response) => {
    const name = basename(new URL(request.url ?? "/", "http://localhost/").pathname);
    const file = join(folder, name);
    const content = name !== "" && existsSync(file) ? readFileSync(file) : null;
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "") ?? [];
    const part = content?.subarray(Number(from), Number(to) + 1) ?? Buffer.alloc(0);
    requests.push({ name, bytes: part.length });
    if (content === null) response.writeHead(404).end();
    else if (part.length === 0) response.writeHead(416).end();
    else {
      const range = `bytes ${from}-${Number(from) + part.length - 1}/${content.length}`;
      const etag = `"${hash("sha256", content).slice(0, 16)}"`;
      response.writeHead(206, { "content-range": range, etag }).end(part);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    /** Ends with a slash. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
