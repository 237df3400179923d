/** The client of a request: its identity, the address that it uses, and its reply. */
import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { messageOf } from "../../platform/errors.ts";
import { hostnameOf, isOwnName } from "../../platform/network/host-names.ts";
import type { Direct, Handlers, Incoming, Outgoing } from "../listen.ts";
import type { AccessKey } from "../session/access-key.ts";
import { rateLimitHeaders } from "./allowance.ts";
import type { Conditions } from "./content-response.ts";
import type { Reply } from "./responses.ts";

export interface RequestAddress {
  /** Of this server, as the client names it. */
  readonly origin: string;
  readonly hostHeader: string;
  /** Path and query. */
  readonly target: string;
}

export interface Received extends RequestAddress, Conditions {
  readonly method: string;
  readonly authorization: string | undefined;
}

/**
 * Requests whose addresses need no normalization are answered directly, in less time than Hono takes.
 * @param answer an error of it becomes a response with status 500
 * @param middleware for all requests. Null: none
 * @param onError called with each error of `answer`
 */
export function createHandlers(
  answer: (request: Received) => Reply | Promise<Reply>,
  middleware: MiddlewareHandler | null,
  onError: (text: string) => void,
): Handlers {
  const fail = (error: unknown): Reply => {
    onError(messageOf(error));
    return { status: 500, headers: [], body: null };
  };
  const replyTo: typeof answer = (request) => {
    try {
      const reply = answer(request);
      return reply instanceof Promise ? reply.catch(fail) : reply;
    } catch (error) {
      return fail(error);
    }
  };
  const app = new Hono();
  if (middleware !== null) app.use(middleware);
  app.all("*", async ({ req }) => {
    const { url, method } = req;
    const [authorization, ifNoneMatch, ifModifiedSince] = conditional.map((name) => req.header(name));
    const request = { ...splitUrl(url), method, authorization, ifNoneMatch, ifModifiedSince };
    return responseOf(await replyTo(request));
  });
  const direct: Direct = (incoming, outgoing) => {
    const address = middleware === null ? plainAddress(incoming) : null;
    if (address === null) return false;
    const { headers, method = "" } = incoming;
    const { authorization, "if-none-match": ifNoneMatch, "if-modified-since": ifModifiedSince } = headers;
    const request = { ...address, method, authorization, ifNoneMatch, ifModifiedSince };
    const reply = replyTo(request);
    if (reply instanceof Promise) void reply.then((later) => send(outgoing, later));
    else send(outgoing, reply);
    return true;
  };
  return { fetch: app.fetch, direct };
}

const conditional = ["authorization", "if-none-match", "if-modified-since"];

const plainTarget = /^\/[!$&-;=?-Z_a-z~]*$/;
const dotSegment = /\/\.\.?(?:[/?]|$)/;
/** With a port that no scheme has by default. */
const plainHost = /^[a-z\d._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;

/** Null if the address may have another spelling, or the request a body. */
function plainAddress({ method, url = "", headers: { host = "" } }: Incoming): RequestAddress | null {
  if (method !== "GET" && method !== "HEAD") return null;
  if (!plainHost.test(host) || !plainTarget.test(url) || dotSegment.test(url)) return null;
  return { origin: `http://${host}`, hostHeader: host, target: url };
}

function send(outgoing: Outgoing, { status, headers, body }: Reply): void {
  outgoing.writeHead(status, headers as string[]);
  if (body === null) outgoing.end();
  else outgoing.end(body, "latin1");
}

function responseOf({ status, headers, body }: Reply): Response {
  const pairs = headers.flatMap((name, n) => (n % 2 === 0 ? [[name, headers[n + 1] ?? ""] as const] : []));
  return new Response(body === null ? null : Buffer.from(body, "latin1"), {
    status,
    headers: Object.fromEntries(pairs),
  });
}

/** @param url without a fragment, as requests have it */
function splitUrl(url: string): RequestAddress {
  const path = url.indexOf("/", url.indexOf("//") + 2);
  const origin = url.slice(0, path);
  return { origin, hostHeader: origin.slice(origin.indexOf("//") + 2), target: url.slice(path) };
}

const maxHosts = 100;

/**
 * @param host the address that the server listens on
 * @param allowedHosts further host names
 */
export function createHostCheck(
  host: string,
  allowedHosts: readonly string[],
): (hostHeader: string) => boolean {
  const names = new Set(allowedHosts.map((name) => name.toLowerCase()));
  const accepted = new Set<string>();
  return (hostHeader) => {
    if (accepted.has(hostHeader)) return true;
    const name = hostnameOf(hostHeader);
    if (!isOwnName(name, host) && !names.has(name)) return false;
    if (accepted.size >= maxHosts) accepted.clear();
    accepted.add(hostHeader);
    return true;
  };
}

/** A client with the key is the user; other credentials are ignored, as by a service that does not know them. */
export type Client = "user" | "wrong-key" | "none";

export function clientOf(authorization: string | undefined, key: AccessKey): Client {
  const given = authorization === undefined ? null : /^bearer +(\S+)$/i.exec(authorization);
  if (given === null) return "none";
  return key.matches(given[1] ?? "") ? "user" : "wrong-key";
}

/**
 * For pages of these origins in browsers (Fetch standard, section 3.3, "CORS protocol").
 * @param isAcceptedHost pages of any origin could otherwise use a host name that leads here
 */
export function crossOrigin(
  origins: readonly string[],
  isAcceptedHost: (hostHeader: string) => boolean,
): MiddlewareHandler {
  return cors({
    origin: (origin, context) => {
      if (!isAcceptedHost(splitUrl(context.req.url).hostHeader)) return null;
      if (origins.includes("*")) return "*";
      return origins.includes(origin) ? origin : null;
    },
    allowMethods: ["GET", "HEAD"],
    allowHeaders: ["Authorization", "If-None-Match", "If-Modified-Since"],
    exposeHeaders: ["ETag", "Link", "Retry-After", ...rateLimitHeaders],
    maxAge: 600,
  });
}
