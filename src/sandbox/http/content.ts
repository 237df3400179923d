/** An envelope as bytes with its validator, plain and compressed, cached until the world changes. */
import { hash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { jsonType, type Reply, withBody, withHeader } from "./reply.ts";

/** `rotating`: a new ETag in every response, so no check is answered with 304. `last-modified`: `Last-Modified`, and no ETag. */
export const etagStyles = ["strong", "weak", "none", "rotating", "last-modified"] as const;
export type EtagStyle = (typeof etagStyles)[number];

/** Smaller bodies are sent plain: compression would cost more time than it saves. */
const minGzippedBytes = 2_048;

export interface Content {
  readonly plain: Reply;
  /** The compressed body with its own ETag; the plain one if it is too small. */
  readonly gzipped: () => Reply;
}

export function createContent(envelope: unknown, etagStyle: EtagStyle, isPrivate: boolean): Content {
  const body = Buffer.from(JSON.stringify(envelope));
  const etag = etagOf(body, etagStyle);
  const vary = isPrivate ? "Authorization, Accept-Encoding" : "Accept-Encoding";
  const plain: Reply = {
    status: 200,
    headers: [
      "Content-Type",
      jsonType,
      "Content-Length",
      String(body.length),
      "Vary",
      vary,
      ...(etag === null ? [] : ["ETag", etag]),
    ],
    body,
  };
  let compressed: Reply | null = body.length < minGzippedBytes ? plain : null;
  return {
    plain,
    gzipped() {
      compressed ??= gzipReply(plain, etag);
      return compressed;
    },
  };
}

function gzipReply(plain: Reply, etag: string | null): Reply {
  const encoded = withHeader(withBody(plain, gzipSync(plain.body, { level: 1 })), "Content-Encoding", "gzip");
  // A strong validator identifies one sequence of bytes (RFC 9110, section 8.8.1).
  return etag?.startsWith('"') ? withHeader(encoded, "ETag", `${etag.slice(0, -1)}-gzip"`) : encoded;
}

/** @returns null if the service sends no validators */
export function etagOf(body: Buffer, style: EtagStyle): string | null {
  if (style === "none" || style === "last-modified") return null;
  if (style === "rotating") return `"${randomUUID()}"`;
  const digest = `"${hash("sha1", body, "base64url")}"`;
  return style === "weak" ? `W/${digest}` : digest;
}

/** The conditions of a request. */
export interface Conditions {
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
}

/**
 * Whether `If-None-Match` contains a reply's validator, by weak comparison; only without it, whether `If-Modified-Since` is
 * not before its `Last-Modified` (RFC 9110, sections 13.1.2 and 13.1.3).
 */
export function isNotModified(reply: Reply, { ifNoneMatch, ifModifiedSince }: Conditions): boolean {
  if (reply.status !== 200) return false;
  if (ifNoneMatch === undefined) {
    const modifiedAt = reply.headers[reply.headers.indexOf("Last-Modified") + 1];
    const since = Date.parse(ifModifiedSince ?? "");
    return reply.headers.includes("Last-Modified") && Date.parse(modifiedAt ?? "") <= since;
  }
  const etag = reply.headers[reply.headers.indexOf("ETag") + 1];
  if (!reply.headers.includes("ETag") || etag === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  return [...ifNoneMatch.matchAll(/"[^"]*"/g)].some(([tag]) => opaque(tag) === opaque(etag));
}

/** Adds `Last-Modified`: when the body was first seen to differ, or a day before the start. */
export type AddModificationTime = (key: string, reply: Reply, body: Buffer) => Reply;

export function createModificationTimes(nowMillis: () => number): AddModificationTime {
  const startMillis = nowMillis();
  const known = new Map<string, { body: Buffer; at: number }>();
  return (key, reply, body) => {
    const last = known.get(key);
    const at = last === undefined ? startMillis - 86_400_000 : nowMillis();
    const current = last?.body.equals(body) ? last : { body, at };
    known.set(key, current);
    return withHeader(reply, "Last-Modified", new Date(current.at).toUTCString());
  };
}

export function notModified(reply: Reply): Reply {
  return {
    ...withHeader(withHeader(reply, "Content-Length"), "Content-Type"),
    status: 304,
    body: Buffer.alloc(0),
  };
}

function opaque(etag: string): string {
  return etag.replace(/^W\//, "").replace(/-gzip"$/, '"');
}
