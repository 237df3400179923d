/**
 * Who may ask the dashboard what. It has no password, so it relies on being reached by people of this machine only: a page
 * of somebody else's, open in their browser, must neither read it (by a name that leads here: DNS rebinding) nor make it act.
 */
import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import { isLoopback } from "../../../src/platform/ip-class.ts";

export interface GuardOptions {
  /** The address that is listened at. */
  readonly host: string;
  readonly allowsActions: boolean;
}

/**
 * What may be done with queues at all: their jobs can be held and thrown away, which coordinators find out. Adding, changing
 * and repeating jobs would send requests that nobody reserved, and an early end of a pause would send them in vain.
 */
const actions =
  /^\/api\/queues\/(?:(?:pause|resume)|[^/]+\/(?:pause|resume|promote|empty|obliterate|clean\/[^/]+)|[^/]+\/[^/]+\/(?:clean|promote))$/;

/** @returns why a request is refused, or null */
export function findRefusal(request: Request, { host, allowsActions }: GuardOptions): string | null {
  const asked = request.headers.get("host") ?? "";
  if (!isOwnName(nameIn(asked), host)) return "The dashboard is not known by this name here.";
  if (request.method === "GET" || request.method === "HEAD") return null;
  if (!allowsActions) return "The dashboard only shows; --allow-actions lets it act.";
  if (request.headers.get("origin") !== `http://${asked}`) return "Only the dashboard's own pages may act.";
  if (!actions.test(new URL(request.url).pathname))
    return "This would send requests that no sync has reserved; `armoire sync` knows what to ask for.";
  return null;
}

export function guard(options: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    const refusal = findRefusal(context.req.raw, options);
    // As Bull Board's own page shows it.
    if (refusal !== null) return context.json({ error: refusal, message: refusal }, 403);
    await next();
    const { headers } = context.res;
    headers.set("content-security-policy", contentSecurityPolicy);
    headers.set("x-content-type-options", "nosniff");
    headers.set("referrer-policy", "no-referrer");
    headers.set("cache-control", "no-store");
  };
}

/** Nothing from elsewhere: its fonts would be. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join("; ");

/** An address is nobody's to give to another machine, as a name is. */
function isOwnName(name: string, host: string): boolean {
  if (isLoopback(name) || name === host.toLowerCase()) return true;
  return isEverywhere(host) && isIP(name) !== 0;
}

function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function nameIn(asked: string): string {
  const { hostname = "" } = URL.canParse(`http://${asked}`) ? new URL(`http://${asked}`) : {};
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
