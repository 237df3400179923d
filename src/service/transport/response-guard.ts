/**
 * Keeps the credential out of responses that repeat it, before anything else reads them. A body that would be stored is
 * refused, because stored bodies stay as they came. Headers that repeat the credential are dropped, and it is replaced in
 * the bodies of errors, which are only shown. A body that cannot be decoded cannot be searched, so it ends here.
 */
import { type Credential, redact } from "../credentials/credential.ts";
import { createCredentialSearch } from "../credentials/search.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
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
    const refuse = (code: ServiceErrorCode, detail: string): RawResponse => {
      return { head, wire: null, failure: new ServiceError(code, detail, { url, status }) };
    };
    const isRedirect = status >= 300 && status < 400;
    if (isRedirect && head.headers.location !== response.head.headers.location)
      return refuse("repeats-credential", "the address of the redirect repeats the credential");
    const body = readBody(response.head, response.wire, limits);
    if (body === "too-large" && status === 200)
      return refuse("too-large", "the body decompresses to more than is allowed");
    if (typeof body === "string") return { head, wire: undecodable.slice(), failure: null };
    if (!hasCredential(body)) return { ...response, head };
    const shown = Buffer.from(redact(credential, body.toString("latin1")), "latin1");
    if (status === 200 || hasCredential(shown))
      return refuse("repeats-credential", "the response repeats the credential");
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

/** Takes the place of such a body: it is invalid in every encoding, too. An empty one would be valid. */
const undecodable = new Uint8Array(1);

/** The decoded body, or why there is none. */
function readBody(
  { headers }: ResponseHead,
  wire: Uint8Array,
  limits: ServiceLimits,
): Buffer | "too-large" | "incomplete" | "unknown encoding" {
  const encoding = readEncoding(headers["content-encoding"]);
  if (wire.length === 0) return Buffer.alloc(0);
  if (encoding === null) return "unknown encoding";
  const decoded = decode(wire, encoding, limits);
  if (typeof decoded === "string") return decoded;
  return Buffer.from(decoded.buffer, decoded.byteOffset, decoded.byteLength);
}

function headOfPlainBody({ status, headers }: ResponseHead, length: number): ResponseHead {
  const { "content-encoding": _encoding, "transfer-encoding": _framing, ...others } = headers;
  return { status, headers: { ...others, "content-length": String(length) } };
}
