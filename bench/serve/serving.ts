/**
 * A bare Hono server that has catalogue bodies in memory and sends them with the headers of the API, as a process of its own.
 * Prints its address, and, for each line that it reads, the processor time that it has taken in microseconds.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";

/** What Node.js adds to every response. */
const ofNode = new Set(["connection", "date", "keep-alive"]);

const [copied = ""] = process.argv.slice(2);
const server = createAdaptorServer({ fetch: await bareFrom(copied) });
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
for await (const _ of createInterface(process.stdin)) {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${user + system}\n`);
}
process.exit();

/** @param copied JSON: the address of the API, and the paths that are copied from it */
async function bareFrom(copied: string) {
  const { origin, paths }: { origin: string; paths: readonly string[] } = JSON.parse(copied);
  const sent = new Map<string, { readonly headers: Record<string, string>; readonly body: Buffer }>();
  for (const path of paths) {
    const response = await fetch(origin + path);
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !ofNode.has(name)));
    sent.set(path, { headers, body: Buffer.from(await response.arrayBuffer()) });
  }
  const app = new Hono();
  app.get("*", (context) => {
    const found = sent.get(context.req.path);
    if (found === undefined) return context.notFound();
    return new Response(found.body as Uint8Array<ArrayBuffer>, { headers: found.headers });
  });
  return app.fetch;
}
