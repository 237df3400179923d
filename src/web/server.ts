/**
 * The server of `armoire serve`: mirrors as pages. In: where the mirrors are, and where to listen. Out: an HTTP server.
 * It only reads files, and never connects to the service.
 *
 * A request passes `security.ts`; `dispatch.ts` reads the mirror once for a page of `pages/`, and `rows.ts` sends the rows
 * of a page in other formats. To add a page, add a file to `pages/` and its name to `pages/pages.ts`; `page.ts` says what a
 * page is.
 */
import { once } from "node:events";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import type { Point } from "../mirror/points/point.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { assets } from "./assets/assets.ts";
import { createDispatcher } from "./dispatch.ts";
import { WebError } from "./errors.ts";
import { serveMirror } from "./mirrors/open-mirror.ts";
import { pages } from "./pages/pages.ts";
import { guard, needsKeyForAll } from "./security.ts";
import { requireSession } from "./session-routes.ts";
import { createSessions } from "./sessions.ts";

export interface ServerOptions {
  /** The file of the catalogue's mirror. Called again while it returns null. */
  readonly findCatalogue: () => string | null;
  /** 0 for any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** What pages show unless their URL names another point. Default: the present. */
  readonly asOf?: Point;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Called with errors that are no user's fault. Default: they are only shown on the page. */
  readonly onError?: (text: string) => void;
}

export interface WebServer {
  /** Of the pages, such as `http://127.0.0.1:8900/`. */
  readonly url: string;
  /** What a browser exchanges for a session, as `#key=` behind an address or in a form. */
  readonly key: string;
  /** Whether all pages need the key, because others can reach the server. */
  readonly needsKey: boolean;
  close(): Promise<void>;
}

const maxConnections = 256;
/** For a connection on which nothing moves. */
const idleMillis = 30_000;
const requestMillis = 10_000;

/** Starts the server. @throws WebError if it cannot listen */
export async function createServer(options: ServerOptions): Promise<WebServer> {
  const { host = "127.0.0.1", clock = systemClock, onError = () => {} } = options;
  const mirror = serveMirror(options.findCatalogue, () => clock.now());
  const sessions = createSessions(clock);
  const needsKey = needsKeyForAll(host);
  const app = new Hono();
  app.use(guard(host));
  for (const { path, type, bytes } of Object.values(assets))
    app.get(path, (context) =>
      context.body(bytes, 200, {
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
      }),
    );
  const portNow = () => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : options.port;
  };
  requireSession(app, { sessions, needsKey, cookieName: () => `armoire-${portNow()}` });
  const dispatcher = createDispatcher({
    mirror,
    pages,
    clock,
    asOf: options.asOf,
    isPrivate: needsKey,
    onError,
  });
  dispatcher.addRoutes(app);

  const server = createAdaptorServer({ fetch: app.fetch, serverOptions: { requestTimeout: requestMillis } });
  server.setTimeout(idleMillis);
  if ("maxConnections" in server) server.maxConnections = maxConnections;
  try {
    server.listen(options.port, host);
    await once(server, "listening");
  } catch (cause) {
    throw cannotListen(host, options.port, cause);
  }
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${portNow()}/`,
    key: sessions.key,
    needsKey,
    async close() {
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
      mirror.close();
    },
  };
}

function cannotListen(host: string, port: number, cause: unknown): WebError {
  return new WebError(
    "cannot-listen",
    `Cannot listen on ${host} port ${port}: ${messageOf(cause)}.`,
    hasCode(cause, "EADDRNOTAVAIL")
      ? "Give an address of this machine to --host."
      : "Choose another --port, or 0 for any free one.",
    { cause },
  );
}
