/**
 * The response with content of the service: its bytes with other URLs, or that the client's copy is current. The bytes are
 * read only if they are sent.
 */
import { type AllowanceState, allowanceHeaders } from "./allowance.ts";
import type { FoundContent } from "./resolve.ts";
import { cacheHeaders, safetyHeaders } from "./responses.ts";
import { createLinkRewriter, createRewriter, type RewriteUrls } from "./rewrite-urls.ts";

/** The URLs of a service become URLs of this server. */
export interface UrlRewriter {
  readonly rewriteBody: RewriteUrls;
  readonly rewriteLink: (header: string) => string;
}

/** Limits the memory that host names of clients can take. */
const maxRewriters = 32;

/** @returns a function that keeps a rewriter for each pair of origins */
export function createRewriters(): (from: string, to: string) => UrlRewriter {
  const rewriters = new Map<string, UrlRewriter>();
  return (from, to) => {
    const key = `${from} ${to}`;
    const known = rewriters.get(key);
    if (known !== undefined) return known;
    if (rewriters.size >= maxRewriters) rewriters.clear();
    const rewriter = { rewriteBody: createRewriter(from, to), rewriteLink: createLinkRewriter(from, to) };
    rewriters.set(key, rewriter);
    return rewriter;
  };
}

export interface Conditions {
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
}

/** Whether the client's copy is current. A date counts only without a tag (RFC 9110, section 13.1.3). */
export function isNotModified({ content }: FoundContent, conditions: Conditions): boolean {
  const { ifNoneMatch, ifModifiedSince } = conditions;
  if (ifNoneMatch !== undefined) return matchesTag(ifNoneMatch, entityTagOf(content.sha256));
  if (ifModifiedSince === undefined || content.modifiedAt === null) return false;
  return content.modifiedAt <= Date.parse(ifModifiedSince);
}

/** @param vary request headers on which the content depends */
export function notModifiedResponse(
  { content, isPrivate }: FoundContent,
  allowance: AllowanceState,
  vary: string | null,
): Response {
  return new Response(null, {
    status: 304,
    headers: {
      etag: entityTagOf(content.sha256),
      ...cacheHeaders(isPrivate),
      ...(vary !== null && { vary }),
      ...safetyHeaders,
      ...allowanceHeaders(allowance),
    },
  });
}

/** @param body with the URLs of this server */
export function contentResponse(
  { content, isPrivate }: FoundContent,
  body: Buffer,
  { rewriteLink }: UrlRewriter,
  allowance: AllowanceState,
  vary: string | null,
): Response {
  const { sha256, contentType, link, modifiedAt } = content;
  return new Response(body, {
    status: 200,
    headers: {
      "content-type": contentType ?? "application/json",
      "content-length": String(body.byteLength),
      etag: entityTagOf(sha256),
      ...(modifiedAt !== null && { "last-modified": new Date(modifiedAt).toUTCString() }),
      ...(link !== null && { link: rewriteLink(link) }),
      ...cacheHeaders(isPrivate),
      ...(vary !== null && { vary }),
      ...safetyHeaders,
      ...allowanceHeaders(allowance),
    },
  });
}

/**
 * The service may send no entity tags, weak ones, or new ones for the same content, and the bytes sent here differ from its
 * own. So the tag is our own and strong: the hash of the body as the service sent it.
 * @param sha256 of that body
 */
function entityTagOf(sha256: Buffer): string {
  return `"${sha256.toString("base64url")}"`;
}

/** Whether `If-None-Match` contains the tag, by weak comparison (RFC 9110, section 13.1.2). */
function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === tag || ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((part) => part.trim().replace(/^W\//, "") === tag);
}
