import { ArmoireError, errorClass } from "../platform/errors.ts";
import { withoutUserinfo } from "./same-origin.ts";

/**
 * What the caller does next: `retry` later (the door's own retries are used up); `skip` this resource, which answers
 * wrongly; or end the run because the allowance is spent or the credential is not accepted.
 */
export type ServiceErrorNext = "retry" | "skip" | "stop-allowance" | "stop-authentication";

interface Meaning {
  readonly next: ServiceErrorNext;
  /** Whether trying again within seconds may help. */
  readonly again: boolean;
  readonly hint: string;
}

const later = (hint: string): Meaning => ({ next: "retry", again: false, hint });
const soon = (hint: string): Meaning => ({ next: "retry", again: true, hint });
const skip = (hint: string): Meaning => ({ next: "skip", again: false, hint });

const network = "Check the network and the base URL; the next run goes on from here.";
const outage = "The service has trouble; the next run goes on from here.";
const contract =
  "The service does not keep to its contract here; the rest of the run goes on without this resource.";
const portal =
  "Something between here and the service may be answering for it (a login page, a proxy); check the base URL.";
const allowance = "Run again after the allowance is renewed; the next run goes on from here.";

/** The one place that decides what each failure means. */
const meanings = {
  unreachable: soon(network),
  "host-not-found": later(network),
  "tls-failed": later(
    "Check the base URL and this machine's certificates and clock; certificates are always verified.",
  ),
  "connection-lost": soon(network),
  timeout: soon(outage),
  "incomplete-body": soon(outage),
  "malformed-response": soon(portal),
  "server-error": soon(outage),
  busy: soon(outage),
  "circuit-open": later(outage),
  "worker-lost": soon(
    "A worker ended while it asked; the others go on. `armoire worker` says more where it ran.",
  ),
  "held-back": { next: "stop-allowance", again: false, hint: allowance },
  withdrawn: later("The next run asks for it."),
  closed: later("The service was closed while this resource was being fetched."),
  throttled: { next: "stop-allowance", again: false, hint: allowance },
  "allowance-spent": { next: "stop-allowance", again: false, hint: allowance },
  "not-authenticated": {
    next: "stop-authentication",
    again: false,
    hint: "Set a valid token or application key and secret; what is mirrored stays.",
  },
  forbidden: skip("The credential does not grant this; a token with more scopes may."),
  "unexpected-status": skip(contract),
  "not-the-api": skip(portal),
  "not-json": skip(contract),
  "not-utf8": skip(contract),
  "too-deep": skip(contract),
  "too-large": skip(contract),
  "encoding-refused": skip(contract),
  "redirect-refused": skip(
    "Only the base URL's origin is ever contacted; set the base URL to where the service is now.",
  ),
  "too-many-redirects": skip(contract),
  "unasked-not-modified": skip(contract),
  "not-a-picture": skip("Only pictures of common kinds are downloaded, and none that could hold a program."),
  "private-address": skip(
    "Pictures are not asked for inside a network that the service itself is not in; what refers there is no picture of the service's.",
  ),
  "link-refused": skip("Only the base URL's origin is ever contacted."),
} satisfies Record<string, Meaning>;

export type ServiceErrorCode = keyof typeof meanings;

export function isServiceErrorCode(code: string): code is ServiceErrorCode {
  return Object.hasOwn(meanings, code);
}

export interface ServiceErrorContext {
  /** The address that was asked. */
  readonly url: string;
  readonly status?: number | null;
  /** Epoch milliseconds before which it is no use to try again. */
  readonly resumeAt?: number | null;
}

/** Why a request brought no usable response. Built from chosen facts only, so it never holds a header or a credential. */
export class ServiceError extends ArmoireError<ServiceErrorCode> {
  override readonly name = "ServiceError";
  readonly next: ServiceErrorNext;
  readonly url: string;
  /** The message without the address: "answered 500". */
  readonly detail: string;
  readonly status: number | null;
  readonly resumeAt: number | null;

  constructor(
    code: ServiceErrorCode,
    detail: string,
    { url, status = null, resumeAt = null }: ServiceErrorContext,
  ) {
    super("failed", code, `${withoutUserinfo(url)}: ${detail}`, meanings[code].hint);
    this.detail = detail;
    this.next = meanings[code].next;
    this.url = withoutUserinfo(url);
    this.status = status;
    this.resumeAt = resumeAt;
  }
}

/** Whether the same request may succeed within seconds. */
export function isTransient(error: unknown): error is ServiceError {
  return error instanceof ServiceError && meanings[error.code].again;
}

/** A setting that the client cannot use. Its message never holds the value, which may be secret. */
export class ServiceSettingsError extends errorClass("ServiceSettingsError", {
  "bad-base-url": "settings",
  "bad-credential": "settings",
}) {}
