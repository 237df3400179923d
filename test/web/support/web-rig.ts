/** A mirror with a history, served as pages, and requests to them over real sockets, with any header. */
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Clock } from "../../../src/platform/clock.ts";
import { createServer } from "../../../src/web/server.ts";
import type { ServerOptions, WebServer } from "../../../src/web/start-servers.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";

export interface WebRig extends AsyncDisposable {
  readonly rig: Rig;
  readonly server: WebServer;
  get(path: string, options?: RequestOptions): Promise<Reply>;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Two runs, with changes, a tombstone and difficult names between them. */
export async function startWebRig(options: Partial<ServerOptions> = {}): Promise<WebRig> {
  const rig = await startRig({ brands: 6, models: 40, sizes: 240, pageSize: 10 });
  await rig.sync({ follow: ["related", "same_cut"] });
  rig.sandbox.moveClock({ advanceSeconds: 86_400 });
  rig.sandbox.advance({ changes: 12, additions: 3, removals: 2 });
  await rig.sync({ mode: "verify", follow: ["related", "same_cut"], approve: true });
  const server = await createServer({ findCatalogue: () => rig.file, port: 0, clock: rig.clock, ...options });
  return {
    rig,
    server,
    get: (path, requestOptions) => send(server, path, requestOptions),
    async [Symbol.asyncDispose]() {
      await server.close();
      await rig[Symbol.asyncDispose]();
    },
  };
}

/** @param path sent as it is */
export async function send(
  { url }: Pick<WebServer, "url">,
  path: string,
  { method = "GET", headers = {}, body }: RequestOptions = {},
): Promise<Reply> {
  const { port } = new URL(url);
  const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

export interface Stream {
  readonly sent: ClientRequest;
  readonly response: IncomingMessage;
}

/** A response that does not end by itself. The caller destroys the request. */
export async function openStream(
  { url }: Pick<WebServer, "url">,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  const { port } = new URL(url);
  const sent = request({ host: "127.0.0.1", port, path, headers, agent: false });
  sent.on("error", () => {});
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => {});
  return { sent, response };
}

/** Exchanges the key. @returns the cookie of the session */
export async function openSession(server: Pick<WebServer, "url" | "key">): Promise<string> {
  const { headers } = await send(server, "/session", {
    method: "POST",
    headers: { origin: server.url.slice(0, -1), "content-type": "application/x-www-form-urlencoded" },
    body: `key=${encodeURIComponent(server.key)}`,
  });
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}

/** The addresses of links on a page, decoded from HTML. */
export const linksIn = (html: string): string[] =>
  [...html.matchAll(/\bhref="([^"]*)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));

/** The sandbox's time, with the waits that were asked for. */
export function recordSleeps(clock: Clock): { readonly clock: Clock; readonly sleeps: number[] } {
  const sleeps: number[] = [];
  return {
    sleeps,
    clock: {
      ...clock,
      sleep: async (millis) => void sleeps.push(millis),
    },
  };
}
