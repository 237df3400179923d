/**
 * A server of catalogue bodies, as a process of its own: the API from a mirror, or a bare Hono server that has the same bytes
 * in memory. Prints its address, and, for each line that it reads, the CPU time and the memory that it has taken.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { systemClock } from "../../src/platform/clock.ts";
import { createApi } from "../../src/web/api/create-api.ts";
import { createAccessKey } from "../../src/web/session/access-key.ts";
import { peakMebibytes } from "../measurement.ts";

/** What a server prints for each line. */
export interface Taken {
  readonly cpuMicros: number;
  readonly peakMebibytes: number;
}

const [what, mirror = ""] = process.argv.slice(2);
const server = createAdaptorServer({ fetch: what === "api" ? apiFrom(mirror) : await bareFrom(mirror) });
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
for await (const _ of createInterface(process.stdin)) {
  const { user, system } = process.cpuUsage();
  const taken: Taken = { cpuMicros: user + system, peakMebibytes: peakMebibytes() };
  process.stdout.write(`${JSON.stringify(taken)}\n`);
}
process.exit();

function apiFrom(file: string) {
  const key = createAccessKey("unused", systemClock);
  return createApi({ findCatalogue: () => file, key, host: "127.0.0.1" }).app.fetch;
}

/** @param copied JSON: the address of the API, and the paths that are copied from it */
async function bareFrom(copied: string) {
  const { origin, paths }: { origin: string; paths: readonly string[] } = JSON.parse(copied);
  const sent = new Map<string, { readonly headers: Record<string, string>; readonly body: Buffer }>();
  for (const path of paths) {
    const response = await fetch(origin + path);
    const headers = {
      "content-type": response.headers.get("content-type") ?? "",
      etag: response.headers.get("etag") ?? "",
    };
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
