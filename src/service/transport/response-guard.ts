/**
 * Keeps the credential out of responses that repeat it, before anything else reads them. A body that would be stored is
 * refused, because stored bodies stay as they came. Headers that repeat the credential are dropped, and it is replaced in
 * the bodies of errors, which are only shown.
 */
import { type Credential, redact } from "../credentials/credential.ts";
import { createCredentialSearch } from "../credentials/search.ts";
import { ServiceError } from "../errors.ts";
import { decode, readEncoding } from "./content-encoding.ts";
import type { ServiceLimits } from "./pool.ts";
import type { RawResponse, ResponseHead } from "./send-request.ts";

/** @returns a function that refuses or changes a response that repeats the credential; it returns any other as it is */
export function createResponseGuard(
  credential: Credential,
  limits: ServiceLimits,
): (response: RawResponse, url: string) => RawResponse {
  const hasCredential = createCredentialSearch(credential);
  return (response, url) => {
    if (response.head === null) return response;
    const head = dropHeaders(response.head, hasCredential);
    if (response.failure !== null) return { ...response, head };
    const { status } = head;
    const refuse = (part: string): RawResponse => {
      const failure = new ServiceError("repeats-credential", `${part} repeats the credential`, {
        url,
        status,
      });
      return { head, wire: null, failure };
    };
    const isRedirect = status >= 300 && status < 400;
    if (isRedirect && head.headers.location !== response.head.headers.location)
      return refuse("the address of the redirect");
    const body = readBody(response.head, response.wire, limits);
    if (!hasCredential(body)) return { ...response, head };
    const shown = Buffer.from(redact(credential, body.toString("latin1")), "latin1");
    if (status === 200 || hasCredential(shown)) return refuse("the response");
    return { head: headOfPlainBody(head, shown.length), wire: new Uint8Array(shown), failure: null };
  };
}

/** Without the headers that repeat the credential. */
function dropHeaders(head: ResponseHead, hasCredential: (bytes: Buffer) => boolean): ResponseHead {
  const isRepeatedBy = (value: unknown) => hasCredential(Buffer.from(String(value), "latin1"));
  const { status, headers } = head;
  if (!isRepeatedBy(Object.values(headers).join("\n"))) return head;
  const others = Object.entries(headers).filter(([, value]) => !isRepeatedBy(value));
  return { status, headers: Object.fromEntries(others) };
}

/** The decoded body. One that cannot be decoded is never used; it is returned as it came. */
function readBody({ headers }: ResponseHead, wire: Uint8Array, limits: ServiceLimits): Buffer {
  const encoding = readEncoding(headers["content-encoding"]);
  const decoded = encoding === null ? wire : decode(wire, encoding, limits);
  const { buffer, byteOffset, byteLength } = typeof decoded === "string" ? wire : decoded;
  return Buffer.from(buffer, byteOffset, byteLength);
}

function headOfPlainBody({ status, headers }: ResponseHead, length: number): ResponseHead {
  const { "content-encoding": _encoding, "transfer-encoding": _framing, ...others } = headers;
  return { status, headers: { ...others, "content-length": String(length) } };
}
