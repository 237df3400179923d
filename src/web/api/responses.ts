/**
 * The form of all replies of the API; and those without content of the service, which have the form of its errors
 * (specification, section 7).
 */
import { retryAfterSeconds } from "../errors.ts";
import { type AllowanceState, allowanceHeaders } from "./allowance.ts";

/** A response, not yet sent. */
export interface Reply {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Bytes, each as a character (`latin1`): Node.js sends a text together with its headers. */
  readonly body: string | null;
}

export interface Problem {
  readonly status: 401 | 403 | 404 | 405 | 410 | 421 | 500 | 503 | 504;
  readonly message: string;
  /** Further members of the body. */
  readonly details?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nothing here depends on the URL of the page that a browser shows, and none of it is to be embedded there. */
export const safetyHeaders = [
  ...["x-content-type-options", "nosniff"],
  ...["cross-origin-resource-policy", "same-origin"],
];

export const notAuthenticated: Problem = {
  status: 401,
  message: "Not authenticated",
  headers: { "www-authenticate": 'Bearer realm="armoire"' },
};

export const notFound: Problem = { status: 404, message: "Not found" };

export const notAllowed: Problem = {
  status: 405,
  message: "Method not allowed",
  headers: { allow: "GET, HEAD" },
};

export const otherHost: Problem = {
  status: 421,
  message: "This host name is not accepted. Use the address that `armoire serve` has printed.",
};

export const unreadable: Problem = {
  status: 500,
  message: "The mirror cannot be read. `armoire mirror check` shows why.",
};

/** @param title what is wrong for the moment */
export const notNow = (title: string): Problem => ({
  status: 503,
  message: `${title}. Try again in a moment.`,
  headers: { "retry-after": String(retryAfterSeconds) },
});

export const withoutScope = (kind: string): Problem => ({
  status: 403,
  message: `The token of the account does not have the scope ${kind}`,
});

/** @param since ISO 8601 */
export const gone = (since: string | null): Problem =>
  since === null
    ? { status: 410, message: "Gone" }
    : { status: 410, message: `Gone since ${since}`, details: { gone_since: since } };

/** @param seconds null if it is not known when it will be held */
export const notHeld = (seconds: number | null): Problem => ({
  status: 504,
  message: "Not held: the mirror knows this address and has not fetched it",
  ...(seconds !== null && { headers: { "retry-after": String(seconds) } }),
});

export const spent = ({ reset }: AllowanceState): Problem => ({
  status: 403,
  message: `API rate limit exceeded, until ${new Date(reset * 1000).toISOString()}`,
});

/** @param spec the address of a page about the service, as its root names it */
export function problemReply(problem: Problem, spec: string | null, allowance: AllowanceState): Reply {
  const { status, message, details = {}, headers = {} } = problem;
  const own = [...Object.entries(headers).flat(), ...allowanceHeaders(allowance)];
  return jsonReply(status, { message, spec, ...details }, own);
}

/** The resource behind the root's `rate_limit` link. */
export function rateLimitReply(self: string, allowance: AllowanceState): Reply {
  const body = { self, rel: "resource", spec: null, links: {}, meta: {}, body: { base: allowance } };
  return jsonReply(200, body, allowanceHeaders(allowance));
}

/** A temporary one, since the service may lead elsewhere later. @param location path and query */
export function redirectReply(location: string, isPrivate: boolean, allowance: AllowanceState): Reply {
  const headers = [
    ...["location", location],
    ...cacheHeaders(isPrivate),
    ...safetyHeaders,
    ...allowanceHeaders(allowance),
  ];
  return { status: 307, headers, body: null };
}

/** A client may keep a copy and must check it; it must not keep one of an account. */
export const cacheHeaders = (isPrivate: boolean): readonly string[] => [
  "cache-control",
  isPrivate ? "no-store" : "no-cache",
];

function jsonReply(status: number, json: object, headers: readonly string[]): Reply {
  const body = Buffer.from(JSON.stringify(json)).toString("latin1");
  const common = ["content-type", "application/json", "content-length", String(body.length)];
  return {
    status,
    headers: [...common, ...cacheHeaders(true), ...safetyHeaders, ...headers],
    body,
  };
}
