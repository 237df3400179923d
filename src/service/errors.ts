import { ArmoireError, errorClass } from "../platform/errors.ts";

/**
 * What the caller does next: `retry` in a later run (retries within this one are used up); `skip` this resource; or stop
 * the run, because the allowance is spent or the credential is rejected.
 */
export type ServiceErrorNext = "retry" | "skip" | "stop-allowance" | "stop-authentication";

interface Meaning {
  readonly next: ServiceErrorNext;
  readonly hint: string;
}

const retry = (hint: string): Meaning => ({ next: "retry", hint });
const skip = (hint: string): Meaning => ({ next: "skip", hint });
const stop: Meaning = {
  next: "stop-allowance",
  hint: "Run again after the allowance is renewed; the next run continues from here.",
};

const network = "Check the network and the base URL; the next run continues from here.";
const outage = "The service has trouble; the next run continues from here.";
const contract = "The service breaks its contract here; the run continues without this resource.";
const portal =
  "Something other than the service may be answering (a login page, a proxy); check the base URL.";

/** The one place that decides what each failure means. `retry-policy.ts` decides which ones are retried at once. */
const meanings = {
  unreachable: retry(network),
  "host-not-found": retry(network),
  "tls-failed": retry(
    "Check the base URL and this machine's certificates and clock; certificates are always verified.",
  ),
  "connection-lost": retry(network),
  timeout: retry(outage),
  "incomplete-body": retry(outage),
  "malformed-response": retry(portal),
  "server-error": retry(outage),
  busy: retry(outage),
  "circuit-open": retry(outage),
  /** Found out of several in a row. */
  "no-usable-response": retry(
    "Check the base URL and the network. Otherwise the service has trouble, or shows in an unusual form that the allowance is spent. Everything stays due.",
  ),
  "worker-lost": retry("A worker ended while it sent this request; the log of `armoire worker` says more."),
  /** Not sent: all workers wait until the allowance is renewed. */
  paused: stop,
  /** Not sent: the caller cancelled it before. */
  cancelled: retry("The next run requests it."),
  /** Not sent: the client was closed before. */
  closed: retry("The client was closed during this fetch."),
  throttled: stop,
  /** Found out of one that was throttled. */
  postponed: retry("The service asks to request only this resource later; the run continues without it."),
  "allowance-spent": stop,
  "not-authenticated": {
    next: "stop-authentication",
    hint: "Set a valid token or application key and secret; mirrored data stays.",
  },
  refused: skip("The service refuses only this resource; the run continues without it."),
  forbidden: skip("The credential does not allow this; a token with more scopes may."),
  "unexpected-status": skip(contract),
  "not-the-api": skip(portal),
  "not-json": skip(contract),
  "not-utf8": skip(contract),
  "too-deep": skip(contract),
  "too-large": skip(contract),
  "encoding-refused": skip(contract),
  "repeats-credential": skip(
    "None of it is kept, so that the credential stays out of all files. Report it to the service's administrators.",
  ),
  "redirect-refused": skip(
    "Only the base URL's origin is contacted; set the base URL to the service's new address.",
  ),
  "too-many-redirects": skip(contract),
  "unexpected-not-modified": skip(contract),
  "not-a-picture": skip("Only pictures of common formats are downloaded, and none that can hold a program."),
  "private-address": skip(
    "Pictures are not fetched from a private network, unless the service itself is in it.",
  ),
  "link-refused": skip("Only the base URL's origin is contacted."),
} satisfies Record<string, Meaning>;

export type ServiceErrorCode = keyof typeof meanings;

export function isServiceErrorCode(code: string): code is ServiceErrorCode {
  return Object.hasOwn(meanings, code);
}

export interface ServiceErrorContext {
  /** The address that was requested. */
  readonly url: string;
  readonly status?: number | null;
  /** When to try again, in epoch milliseconds. */
  readonly resumeAt?: number | null;
  /** Whether the response refuses without a reason: the allowance may be spent, the client blocked, or this resource forbidden. */
  readonly isUnexplained?: boolean;
}

/** Why a request has no usable response. It never holds a header or a credential. */
export class ServiceError extends ArmoireError<ServiceErrorCode> {
  override readonly name = "ServiceError";
  /** What a caller does next; it follows from the code. */
  readonly next: ServiceErrorNext;
  /** The requested address, without a user name or password. */
  readonly url: string;
  /** The message without the address: "answered 500". */
  readonly detail: string;
  /** Of HTTP; null without a response. */
  readonly status: number | null;
  /** When to try again, in epoch milliseconds; null if unknown. */
  readonly resumeAt: number | null;
  /** Whether the response refuses without a reason: the allowance may be spent, the client blocked, or this resource forbidden. */
  readonly isUnexplained: boolean;

  constructor(
    code: ServiceErrorCode,
    detail: string,
    { url, status = null, resumeAt = null, isUnexplained = false }: ServiceErrorContext,
  ) {
    super("failed", code, `${withoutUserinfo(url)}: ${detail}`, meanings[code].hint);
    this.detail = detail;
    this.next = meanings[code].next;
    this.url = withoutUserinfo(url);
    this.status = status;
    this.resumeAt = resumeAt;
    this.isUnexplained = isUnexplained;
  }
}

/** A setting that the client cannot use. Its message never holds the value, which may be secret. */
export class ServiceSettingsError extends errorClass("ServiceSettingsError", {
  "bad-base-url": "settings",
  "bad-credential": "settings",
}) {}

/** Before the first slash after a scheme, or without one. */
const firstUserinfo = /^(?:(?:[a-z][a-z\d+.-]*:[\\/]*)?[^\\/?#@]*@)+/i;
/** Within a path or a query. */
const laterUserinfo = /([\\/]{2})(?:[^\\/?#@]*@[\\/]*)+/g;

/** An address for messages: without the user names and passwords that it may hold. */
export function withoutUserinfo(url: string): string {
  if (!url.includes("@")) return url;
  // Without slashes, as `https:user@host`, an address is relative to a base of the same scheme.
  const parsed = ["https://base/", "http://base/"].map((base) => URL.parse(url, base));
  const exposing = parsed.find((address) => address !== null && address.username + address.password !== "");
  if (exposing) {
    exposing.username = "";
    exposing.password = "";
    return exposing.href.replace(laterUserinfo, "$1");
  }
  if (parsed.includes(null)) return url.slice(url.lastIndexOf("@") + 1);
  const rest = url.replace(firstUserinfo, "");
  // What is left may be an address on its own.
  return rest === url ? url.replace(laterUserinfo, "$1") : withoutUserinfo(rest);
}
