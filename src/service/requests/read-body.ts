import { decodeUtf8, isRecord, JsonError, parseRoundedJsonOrThrow } from "../../../schema/json.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import { decode, offeredEncodings, readEncoding } from "../transport/content-encoding.ts";
import type { ServiceLimits } from "../transport/pool.ts";
import type { ResponseHead } from "../transport/send-request.ts";

export interface JsonBody {
  readonly bytes: Uint8Array;
  /** Numbers are doubles here; the mirror parses the bytes again, exactly. */
  readonly json: Readonly<Record<string, unknown>>;
}

/**
 * Reads a body as one JSON object, strictly: its type, encoding, bytes and text must all be right.
 * @throws ServiceError
 */
export function readBodyOrThrow(
  head: ResponseHead,
  wire: Uint8Array,
  url: string,
  limits: ServiceLimits,
): JsonBody {
  const { bytes, json } = readJsonOrThrow(head, wire, url, limits);
  if (isRecord(json)) return { bytes, json };
  const detail = "the body is JSON, but not an object";
  throw new ServiceError("not-json", detail, { url, status: head.status });
}

/**
 * As `readBodyOrThrow`, but for any JSON value: the specification leaves the bodies of errors open (section 7).
 * @throws ServiceError
 */
export function readJsonOrThrow(
  head: ResponseHead,
  wire: Uint8Array,
  url: string,
  limits: ServiceLimits,
): { readonly bytes: Uint8Array; readonly json: unknown } {
  const { headers, status } = head;
  const failure = (code: ServiceErrorCode, detail: string) => new ServiceError(code, detail, { url, status });
  if (!isJsonType(headers["content-type"])) {
    throw failure(
      "not-the-api",
      `not the API: answered ${status} with ${printableType(headers["content-type"])}`,
    );
  }
  const encoding = readEncoding(headers["content-encoding"]);
  if (encoding === null)
    throw failure("encoding-refused", `encoded other than by ${offeredEncodings.join(", ")}`);
  const bytes = decode(wire, encoding, limits);
  if (bytes === "too-large")
    throw failure("too-large", `the body decompresses (${encoding}) to more than is allowed`);
  if (bytes === "incomplete")
    throw failure("incomplete-body", `the body (${encoding}) is cut short or damaged`);
  const text = decodeUtf8(bytes);
  if (text === null)
    throw failure(isEndedByConnection(head) ? "incomplete-body" : "not-utf8", "the body is not valid UTF-8");
  try {
    const limited = { maxDepth: limits.jsonDepth, maxValues: limits.jsonValues };
    return { bytes, json: parseRoundedJsonOrThrow(text, limited) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error.code === "too-deep") throw failure("too-deep", error.message);
    if (error.code === "too-many-values") throw failure("too-large", `the body ${error.message}`);
    throw failure(
      isEndedByConnection(head) ? "incomplete-body" : "not-json",
      text === "" ? "the body is empty" : error.message,
    );
  }
}

/** `application/json` or a JSON-based type (`application/hal+json`), with any parameters. */
export function isJsonType(header: string | string[] | undefined): boolean {
  return typeof header === "string" && /^\s*application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i.test(header);
}

/** Without a length, a truncated body shows only by being malformed. */
function isEndedByConnection({ headers }: ResponseHead): boolean {
  return headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
}

function printableType(header: string | string[] | undefined): string {
  const type = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})/.exec(String(header))?.[1];
  return type ?? "no content type";
}
