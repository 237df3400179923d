/** Faults of the status line: refusals, delays asked for, redirects, and "not modified" that nobody asked about. */
import { jsonReply, type Reply, withHeader } from "../http/reply.ts";
import { fillIn, type ReplyFault } from "./fault.ts";

const messages: Readonly<Record<number, string>> = {
  401: "Not authenticated",
  403: "This token does not have the scope for this",
  404: "Not found",
  410: "Gone",
  429: "Too many requests",
};

/** Longer than any client should follow. */
const endlessHops = 1_000_000;

export const statusFaults = {
  status(reply, { parameters, nowMillis }) {
    const { status = 503, retryAfter = [] } = parameters;
    const message = messages[status] ?? "Something went wrong";
    const body =
      status === 401 ? { message, spec: "https://www.service.example/docs/api/authentication" } : { message };
    return withHeader(
      instead(reply, status, body),
      "Retry-After",
      ...[retryAfter].flat().map((form) => dateIn(form, nowMillis)),
    );
  },

  "not-authenticated"(reply, { parameters }) {
    const body = {
      message: "Not authenticated",
      spec: "https://www.service.example/docs/api/authentication",
    };
    return instead(reply, parameters.status ?? 401, body);
  },

  "allowance-spent"(reply, { parameters, nowMillis }) {
    const body = { message: "API rate limit exceeded, see https://www.service.example/docs/api/rate-limit" };
    const refused = withHeader(instead(reply, parameters.status ?? 403, body), "X-RateLimit-Remaining", "0");
    return withHeader(
      refused,
      "X-RateLimit-Reset",
      String(Math.ceil(nowMillis / 1_000) + (parameters.count ?? 60)),
    );
  },

  redirect(reply, { parameters, url }) {
    const location = fillIn(parameters.target ?? "{url}", url);
    return withHeader(instead(reply, parameters.status ?? 302, {}), "Location", location);
  },

  "redirect-chain"(reply, { parameters, url }) {
    const here = new URL(url);
    const hop = Number(here.searchParams.get("again") ?? 0);
    if (hop >= (parameters.count ?? endlessHops)) return reply;
    here.searchParams.set("again", String(hop + 1));
    return withHeader(instead(reply, parameters.status ?? 302, {}), "Location", here.href);
  },

  "not-modified": (reply) => ({ ...withHeader(reply, "Content-Length"), status: 304, body: Buffer.alloc(0) }),
} satisfies Record<string, ReplyFault>;

/** Another answer under the same clock and allowance headers. */
function instead(reply: Reply, status: number, value: unknown): Reply {
  const other = jsonReply(status, value);
  const kept = withHeader(withHeader(withHeader(reply, "Content-Type"), "Content-Length"), "ETag");
  return { status, headers: [...kept.headers, ...other.headers], body: other.body };
}

function dateIn(form: string, nowMillis: number): string {
  const seconds = /^@(-?\d+)$/.exec(form)?.[1];
  return seconds === undefined ? form : new Date(nowMillis + Number(seconds) * 1_000).toUTCString();
}
