/**
 * The reply with content of the service: its bytes with other URLs, or that the client's copy is current. The bytes are
 * read only if they are sent, and kept for the next request until the mirror changes.
 */
import { type AllowanceState, allowanceHeaders } from "./allowance.ts";
import type { FoundContent } from "./resolve.ts";
import { cacheHeaders, type Reply, safetyHeaders } from "./responses.ts";
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

/** What a client's copy is compared with. */
export interface ContentState {
  readonly tag: string;
  /** Epoch milliseconds. */
  readonly modifiedAt: number | null;
  readonly kind: string;
}

/** Content with the URLs of this server. */
export interface ReadyContent extends ContentState {
  /** All but those of the allowance: names and values in turn. */
  readonly headers: readonly string[];
  /** Each byte as a character. */
  readonly body: string;
}

/**
 * The service may send no entity tags, weak ones, or new ones for the same content, and the bytes sent here differ from its
 * own. So the tag is our own and strong: the hash of the body as the service sent it.
 */
export const stateOf = ({ content: { hash, modifiedAt, kind } }: FoundContent): ContentState => ({
  tag: `"${hash}"`,
  modifiedAt,
  kind,
});

/** @param body with the URLs of this server @param vary request headers on which the content depends */
export function readyContent(
  { content: { contentType, link }, isPrivate }: FoundContent,
  state: ContentState,
  body: string,
  { rewriteLink }: UrlRewriter,
  vary: string | null,
): ReadyContent {
  const { tag, modifiedAt, kind } = state;
  const headers = ["content-type", contentType ?? "application/json", "content-length", String(body.length)];
  if (modifiedAt !== null) headers.push("last-modified", new Date(modifiedAt).toUTCString());
  if (link !== null) headers.push("link", rewriteLink(link));
  headers.push(...commonHeaders(tag, isPrivate, vary));
  return { tag, modifiedAt, kind, headers, body };
}

const commonHeaders = (tag: string, isPrivate: boolean, vary: string | null): readonly string[] => [
  ...["etag", tag],
  ...cacheHeaders(isPrivate),
  ...(vary === null ? [] : ["vary", vary]),
  ...safetyHeaders,
];

/** Whether the client's copy is current. A date counts only without a tag (RFC 9110, section 13.1.3). */
export function isNotModified({ tag, modifiedAt }: ContentState, conditions: Conditions): boolean {
  const { ifNoneMatch, ifModifiedSince } = conditions;
  if (ifNoneMatch !== undefined) return matchesTag(ifNoneMatch, tag);
  if (ifModifiedSince === undefined || modifiedAt === null) return false;
  return modifiedAt <= Date.parse(ifModifiedSince);
}

export function notModifiedReply(
  { tag }: ContentState,
  isPrivate: boolean,
  vary: string | null,
  allowance: AllowanceState,
): Reply {
  const headers = [...commonHeaders(tag, isPrivate, vary), ...allowanceHeaders(allowance)];
  return { status: 304, headers, body: null };
}

export const contentReply = ({ headers, body }: ReadyContent, allowance: AllowanceState): Reply => ({
  status: 200,
  headers: [...headers, ...allowanceHeaders(allowance)],
  body,
});

/** Only its state, where the client's copy was current. */
type Kept = ContentState | ReadyContent;

export const hasBody = (kept: Kept): kept is ReadyContent => "body" in kept;

/**
 * Content that was asked for at least twice, by address: a client that reads all of the API once would only fill the memory,
 * and each of its responses would be copied by the garbage collector. It holds for one state of the mirrors.
 */
export interface KeptContent {
  /** @param version of the mirrors: with another one, all is forgotten */
  find(version: string, origin: string, target: string): Kept | undefined;
  /** To be called each time that `find` has returned nothing, or a state where the body was needed. */
  keep(version: string, origin: string, target: string, content: Kept): void;
}

const maxKeptBytes = 8 * 2 ** 20;
/** Addresses that were asked for once. */
const maxAskedOnce = 4096;
/** Of a state and its name in the map, and of headers. */
const [stateBytes, headerBytes] = [256, 768];

export function createKeptContent(maxBytes = maxKeptBytes): KeptContent {
  const kept = new Map<string, Kept>();
  const askedOnce = new Set<string>();
  let keptVersion = "";
  let bytes = 0;
  const sizeOf = (key: string, content: Kept) =>
    stateBytes + 2 * key.length + (hasBody(content) ? headerBytes + content.body.length : 0);
  const remove = (key: string, content: Kept) => {
    kept.delete(key);
    bytes -= sizeOf(key, content);
  };
  const use = (version: string) => {
    if (version === keptVersion) return;
    keptVersion = version;
    kept.clear();
    askedOnce.clear();
    bytes = 0;
  };
  return {
    find(version, origin, target) {
      use(version);
      return kept.get(origin + target);
    },
    keep(version, origin, target, content) {
      use(version);
      const key = origin + target;
      if (sizeOf(key, content) > maxBytes) return;
      if (!kept.has(key) && !askedOnce.delete(key)) {
        if (askedOnce.size >= maxAskedOnce) askedOnce.clear();
        askedOnce.add(key);
        return;
      }
      const known = kept.get(key);
      if (known !== undefined && hasBody(known) && !hasBody(content)) return;
      if (known !== undefined) remove(key, known);
      kept.set(key, content);
      bytes += sizeOf(key, content);
      for (const [oldest, its] of kept) {
        if (bytes <= maxBytes) break;
        remove(oldest, its);
      }
    },
  };
}

/** Whether `If-None-Match` contains the tag, by weak comparison (RFC 9110, section 13.1.2). */
function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === tag || ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((part) => part.trim().replace(/^W\//, "") === tag);
}
