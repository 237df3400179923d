/**
 * Replaces the service's origin by another one in a JSON document. In: the bytes of one valid document, each as a character
 * (`latin1`): everything that is compared is ASCII, and no other byte of UTF-8 is below 128. Out: the same bytes, except that
 * string values which begin with the service's origin, followed by `/`, `?`, `#` or their end, begin with the other origin.
 * Names of members stay, and so does text within a string. Pure, in linear time.
 */
export type RewriteUrls = (body: string) => string;

/** Every URL of the service has one of few spellings of its host; other hosts are many. */
const maxKnownHosts = 1_000;
/** A host name has at most 253 letters; each may be written as three. */
const maxHostLength = 1_000;

/** Whether a scheme and an authority, as a URL writes them, are those of an origin. */
type IsOrigin = (scheme: string, authority: string) => boolean;

/** The parts of a URL to replace: its scheme, and its authority. */
interface UrlStart {
  readonly schemeEnd: number;
  readonly authorityStart: number;
  readonly authorityEnd: number;
}

/** Where a string may begin that is a URL: with `ht`, or with something escaped. It ends at the first character of the string. */
const urlStarts = /"(?=[hH][tT\\]|\\)/g;

/** @param from, to origins as `new URL(…).origin` writes them */
export function createRewriter(from: string, to: string): RewriteUrls {
  const isFrom = createOriginTest(from);
  const [toScheme = "", toAuthority = ""] = to.split("://");
  const findUrl = (text: string, at: number): UrlStart | null =>
    findExactUrl(text, at, from) ?? findOtherSpelling(text, at, isFrom);
  const unusual = unusualStrings(from);
  const [usualStart, newStart] = [`"${from}`, `"${to}`];
  return (text) => {
    // Most documents have URLs in their usual spelling only: then the engine searches and copies.
    if (!unusual.test(text)) return text.split(usualStart).join(newStart);
    let rewritten = "";
    let copied = 0;
    // Without an array for each match.
    for (urlStarts.lastIndex = 0; urlStarts.test(text); ) {
      const start = urlStarts.lastIndex;
      // Outside strings JSON has no backslash, so a quotation mark after one begins no string.
      if (text[start - 2] === "\\") continue;
      const url = findUrl(text, start);
      if (url === null || isName(text, url.authorityEnd)) continue;
      const slashes = text.slice(url.schemeEnd, url.authorityStart);
      rewritten += text.slice(copied, start) + toScheme + slashes + toAuthority;
      copied = url.authorityEnd;
    }
    return copied === 0 ? text : rewritten + text.slice(copied);
  };
}

/**
 * Finds where a string must be looked at closely: it may be a URL of the origin in another spelling, or it begins with the
 * origin and is the name of a member, has an escape, or is another origin. A lower-case name of a host without a port is no
 * spelling of another one.
 */
function unusualStrings(from: string): RegExp {
  const origin = from.replace(/[^\w]/g, "\\$&");
  const ofOrigin = String.raw`${origin}[^"\\]*(?:\\|"[ \t\n\r]*:)`;
  const usualHost = String.raw`https?:\/\/(?:[a-z\d-]+\.)+[a-z]+["/?#]`;
  const other = String.raw`(?!${origin}["/?#])(?:${origin}|(?!${usualHost})(?:[hH][tT\\]|\\))`;
  return new RegExp(String.raw`"(?:${ofOrigin}|${other})|\\"${origin}`);
}

/** As `createRewriter`, for the targets in a `Link` header (RFC 8288). */
export function createLinkRewriter(from: string, to: string): (header: string) => string {
  const isFrom = createOriginTest(from);
  return (header) =>
    header.replace(/<(https?):\/\/([^<>/?#]*)/gi, (start, scheme: string, authority: string) =>
      isFrom(scheme, authority) ? `<${to}` : start,
    );
}

/** Origins are compared as URLs: `HTTPS://API.example:443` is `https://api.example`, and a user name makes a difference. */
function createOriginTest(origin: string): IsOrigin {
  const known = new Map<string, boolean>();
  return (scheme, authority) => {
    // A parser drops blanks, and takes a backslash for the beginning of the path.
    if (authority.length > maxHostLength || /[\0-\x20\\]/.test(authority)) return false;
    const text = `${scheme}://${authority}`;
    if (text === origin) return true;
    let isSame = known.get(text);
    if (isSame === undefined) {
      const url = URL.parse(text);
      isSame = url !== null && url.origin === origin && url.username === "" && url.password === "";
      if (known.size >= maxKnownHosts) known.clear();
      known.set(text, isSame);
    }
    return isSame;
  };
}

const originEnd = /["/?#]/y;

/** The usual spelling. */
function findExactUrl(text: string, at: number, from: string): UrlStart | null {
  if (!text.startsWith(from, at)) return null;
  originEnd.lastIndex = at + from.length;
  if (!originEnd.test(text)) return null;
  const schemeEnd = at + from.indexOf(":");
  return { schemeEnd, authorityStart: schemeEnd + 3, authorityEnd: at + from.length };
}

/** Nothing is escaped except slashes. */
const plainUrl = /(https?):(\/\/|\\\/\\\/)([\w.:[\]-]*)(?=["/?#]|\\\/)/iy;

/** @param at the first character of a string */
function findOtherSpelling(text: string, at: number, isFrom: IsOrigin): UrlStart | null {
  plainUrl.lastIndex = at;
  const [, scheme = "", slashes = "", authority = ""] = plainUrl.exec(text) ?? [];
  if (scheme === "") return findEscapedUrl(text, at, isFrom);
  if (!isFrom(scheme, authority)) return null;
  const schemeEnd = at + scheme.length;
  const authorityStart = schemeEnd + 1 + slashes.length;
  return { schemeEnd, authorityStart, authorityEnd: authorityStart + authority.length };
}

/** Escapes are read one by one. */
function findEscapedUrl(text: string, at: number, isFrom: IsOrigin): UrlStart | null {
  let end = at;
  let scheme = "";
  for (;;) {
    const next = readCharacter(text, end);
    if (next.character === ":") break;
    scheme += next.character;
    if (!"https".startsWith(scheme.toLowerCase())) return null;
    end = next.end;
  }
  if (scheme.length < 4) return null;
  const schemeEnd = end;
  for (const expected of "://") {
    const { character, end: after } = readCharacter(text, end);
    if (character !== expected) return null;
    end = after;
  }
  const authorityStart = end;
  while (end < text.length && text[end] !== '"') {
    const { character, end: after } = readCharacter(text, end);
    if (character === "/" || character === "?" || character === "#") break;
    end = after;
  }
  const raw = text.slice(authorityStart, end);
  const authority: unknown = JSON.parse(`"${Buffer.from(raw, "latin1").toString()}"`);
  return isFrom(scheme, String(authority)) ? { schemeEnd, authorityStart, authorityEnd: end } : null;
}

/** Reads one character of a string, or one byte of a longer one; a backslash for any that begins no URL. */
function readCharacter(text: string, at: number): { readonly character: string; readonly end: number } {
  const character = text.charAt(at);
  if (character !== "\\") return { character, end: at + 1 };
  const escaped = text.charAt(at + 1);
  if (escaped !== "u") return { character: escaped === "/" ? "/" : "\\", end: at + 2 };
  const code = Number.parseInt(text.slice(at + 2, at + 6), 16);
  return { character: String.fromCharCode(code), end: at + 6 };
}

const nameEnd = /[ \t\n\r]*:/y;

/** Whether a string is the name of a member. @param at a position in it */
function isName(text: string, at: number): boolean {
  let quote = text.indexOf('"', at);
  while (isEscaped(text, quote, at)) quote = text.indexOf('"', quote + 1);
  nameEnd.lastIndex = quote + 1;
  return nameEnd.test(text);
}

function isEscaped(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && text[start - 1] === "\\") start--;
  return (at - start) % 2 === 1;
}
