/**
 * Which requests the dashboard accepts. It has no password, and relies on being reachable from this machine only. So
 * a page of another site, open in the user's browser, must neither read it (through a host name that resolves here:
 * DNS rebinding) nor act on it.
 */
import type { MiddlewareHandler } from "hono";
import { hostnameOf, isOwnName } from "../../../src/platform/network/host-names.ts";
import { isOwnFetchQueue } from "../queue-names.ts";

export interface GuardOptions {
  /** The address to listen on. */
  readonly host: string;
  /** Further host names that requests may have, such as that of a container. Default: none. */
  readonly names?: readonly string[];
  /** Whether jobs can be paused, promoted, removed and, those of resources, retried. */
  readonly allowsActions: boolean;
}

export function guard(options: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    const refusal = findRefusal(context.req.raw, options);
    // Bull Board's page shows `message`.
    if (refusal !== null) return context.json({ error: refusal, message: refusal }, 403);
    await next();
    const { headers } = context.res;
    headers.set("content-security-policy", contentSecurityPolicy);
    headers.set("x-content-type-options", "nosniff");
    headers.set("referrer-policy", "no-referrer");
    headers.set("cache-control", "no-store");
  };
}

/**
 * Actions that are safe: a coordinator detects paused and removed jobs. Adding or changing jobs would send requests
 * without a permit, and ending a pause early would send them in vain.
 */
const allowedActions =
  /^\/api\/queues\/(?:(?:pause|resume)|[^/]+\/(?:pause|resume|promote|empty|obliterate|clean\/[^/]+)|[^/]+\/[^/]+\/(?:clean|promote))$/;

/** Of a resource's job: its worker sends nothing, and asks the coordinator to plan the resource again. */
const retry = /^\/api\/queues\/([^/]+)\/(?:retry\/failed|[^/]+\/retry)$/;

function isAllowed(path: string): boolean {
  const [, retried] = retry.exec(path) ?? [];
  return allowedActions.test(path) || (retried !== undefined && isOwnFetchQueue(decodeURIComponent(retried)));
}

/** @returns why a request is refused, or null */
export function findRefusal(
  request: Request,
  { host, names = [], allowsActions }: GuardOptions,
): string | null {
  const hostHeader = request.headers.get("host") ?? "";
  const name = hostnameOf(hostHeader);
  if (!isOwnName(name, host) && !names.some((known) => known.toLowerCase() === name))
    return "The dashboard does not accept this host name. Use the address that the worker has printed, or allow the name with --dashboard-name.";
  if (request.method === "GET" || request.method === "HEAD") return null;
  if (!allowsActions)
    return "The dashboard is read-only. Start the worker with --allow-actions to change queues.";
  if (request.headers.get("origin") !== `http://${hostHeader}`)
    return "Only the dashboard's own pages can change queues.";
  if (!isAllowed(new URL(request.url).pathname))
    return "This action would send requests that no sync has reserved. Run `armoire sync` instead.";
  return null;
}

/** Nothing from other origins. Bull Board's fonts would be. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join("; ");
