/**
 * Which requests the dashboard accepts. It has no password, and relies on being reachable from this machine only. So
 * a page of another site, open in the user's browser, must not read it through a host name that resolves here (DNS
 * rebinding).
 */
import type { MiddlewareHandler } from "hono";
import { isForServer } from "../../../src/platform/network/host-names.ts";

export interface GuardOptions {
  /** The address to listen on. */
  readonly host: string;
  /** Further host names that requests may have, such as that of a container. Default: none. */
  readonly names?: readonly string[];
}

export function guard(options: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    const refusal = findRefusal(context.req.raw, options);
    if (refusal !== null) return context.json({ error: refusal }, 403);
    await next();
    const { headers } = context.res;
    headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    headers.set("x-content-type-options", "nosniff");
    headers.set("referrer-policy", "no-referrer");
    headers.set("cache-control", "no-store");
  };
}

/** @returns why a request is refused, or null */
export function findRefusal(request: Request, { host, names = [] }: GuardOptions): string | null {
  if (!isForServer(request, host, names))
    return "The dashboard does not accept this host name. Use the address that the worker has printed, or allow the name with --dashboard-name.";
  return ["GET", "HEAD"].includes(request.method) ? null : "The dashboard can only be read.";
}
