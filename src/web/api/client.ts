/** Who sends a request, and to which address of this server. */
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { hostnameOf, isOwnName } from "../../platform/network/host-names.ts";
import type { AccessKey } from "../session/access-key.ts";
import { rateLimitHeaders } from "./allowance.ts";

export interface RequestAddress {
  /** Of this server, as the client names it. */
  readonly origin: string;
  readonly hostHeader: string;
  /** Path and query. */
  readonly target: string;
}

/** @param url without a fragment, as requests have it */
export function splitUrl(url: string): RequestAddress {
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
