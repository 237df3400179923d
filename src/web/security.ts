/**
 * Which requests the server accepts, and the headers of every response. A page of another site, open in the same browser,
 * must neither read what is served here nor change anything; other users of the machine need the key for private pages.
 */
import type { Context, MiddlewareHandler } from "hono";
import { isForServer } from "../platform/network/host-names.ts";
import { isLoopback } from "../platform/network/ip-class.ts";

/** Nothing from other origins, and nothing inline. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "img-src 'self'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

export const sessionPath = "/session";
/** Of the pages about queues, which need the key, and have a policy of their own. */
export const queuesPath = "/queues";

export interface GuardOptions {
  /** The address to listen on. */
  readonly host: string;
  /** Whether pages about queues may change them. */
  readonly allowsActions: boolean;
}

/** Refuses requests before anything else looks at them. */
export function guard(options: GuardOptions): MiddlewareHandler {
  return async (context, next) => {
    const refusal = refusalOf(context, options);
    if (refusal !== null) context.res = refusal;
    else await next();
    const { headers } = context.res;
    if (!headers.has("content-security-policy"))
      headers.set("content-security-policy", contentSecurityPolicy);
    headers.set("x-content-type-options", "nosniff");
    if (!headers.has("referrer-policy")) headers.set("referrer-policy", "no-referrer");
    headers.set("cross-origin-resource-policy", "same-origin");
    headers.set("cross-origin-opener-policy", "same-origin");
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  };
}

function refusalOf(context: Context, { host, allowsActions }: GuardOptions): Response | null {
  const { req } = context;
  if (!isForServer(req.raw, host))
    return context.text(
      "This host name is not accepted. Use the address that `armoire serve` has printed.\n",
      403,
    );
  if (req.method === "GET" || req.method === "HEAD") return null;
  const isKey = req.method === "POST" && req.path === sessionPath;
  const isAction = allowsActions && req.path.startsWith(`${queuesPath}/api/`);
  if (!isKey && !isAction) return context.text("Pages can only be read.\n", 405, { allow: "GET, HEAD" });
  if (req.header("origin") !== `http://${req.header("host")}`)
    return context.text(`Only a page of this server can ${isKey ? "send the key" : "change queues"}.\n`, 403);
  return null;
}

/** Another host than loopback can be reached by others, who need the key for everything. */
export const needsKeyForAll = (host: string): boolean => !isLoopback(host);
