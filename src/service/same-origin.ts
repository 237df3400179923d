/**
 * Which links are followed: those to the base URL's origin. In: a link as the service wrote it, and where it was found.
 * Out: the address to request, or the reason to skip it. Origins are compared as text; no name is resolved.
 */
import { limits } from "../../schema/input/limits.ts";
import { ServiceSettingsError } from "./errors.ts";

/** Why a link is not followed; recorded with the link and shown to the user. */
export type SkippedLink =
  | "empty"
  | "too-long"
  | "template"
  | "not-a-url"
  | "other-scheme"
  | "userinfo"
  | "scheme-downgrade"
  | "other-origin";

/**
 * A path, with or without a query, that `URL` leaves unchanged: nothing to encode, no dot segments. Nearly all links are
 * of this form, and creating a URL object for each would be one of the most expensive steps of reading a body.
 */
const plainPath = /^\/(?:[\w~-][\w.~-]*\/)*(?:[\w~-][\w.~-]*)?(?:\?[\w.~=&-]*)?$/;

/**
 * Resolves a link of a response. Every link that is recorded or followed passes here, so the mirror and the client spell
 * addresses similar.
 * @param href the link as given; absolute, or relative to `base`
 * @param base the address of the response (after redirects)
 * @param origin the service's origin, as `new URL(baseUrl).origin` writes it
 * @returns the absolute address as WHATWG URL writes it, without its fragment; or the reason to skip it
 */
export function resolveLink(
  href: string,
  base: string,
  origin: string,
): { readonly url: string } | { readonly skipped: SkippedLink } {
  if (href.length > limits.urlLength) return { skipped: "too-long" };
  if (href.startsWith(origin) && plainPath.test(href.slice(origin.length))) return { url: href };
  if (href.trim() === "") return { skipped: "empty" };
  if (/[{}]/.test(href)) return { skipped: "template" };
  const url = URL.parse(href, base);
  if (url === null) return { skipped: "not-a-url" };
  // `blob:https://api.example/…` has the origin https://api.example: the scheme needs its own check.
  if (url.protocol !== "http:" && url.protocol !== "https:") return { skipped: "other-scheme" };
  if (url.username !== "" || url.password !== "") return { skipped: "userinfo" };
  if (url.origin !== origin) {
    const isDowngrade = url.protocol === "http:" && origin === `https://${url.host}`;
    return { skipped: isDowngrade ? "scheme-downgrade" : "other-origin" };
  }
  if (url.href.length > limits.urlLength) return { skipped: "too-long" };
  if (href.includes("#")) url.hash = "";
  return { url: url.href };
}

/**
 * The same text for the spellings of an address that RFC 3986, section 6.2.2, takes for equal, beyond what WHATWG URL does: the
 * case of percent-encodings, unreserved characters that are encoded, an empty query. To compare addresses, never to request
 * one: a service may answer another spelling differently.
 * @param url as `resolveLink` writes it
 */
export function comparableAddress(url: string): string {
  if (!/[%?]/.test(url)) return url;
  const decoded = url.replaceAll(/%[0-9a-f]{2}/gi, (octet) => {
    const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
  });
  return decoded.indexOf("?") === decoded.length - 1 ? decoded.slice(0, -1) : decoded;
}

const hint = "Give the address of the service's root, such as https://api.example.org/.";

/**
 * The origin of a base URL, in the spelling that all links are compared with.
 * @param name how the message names the URL, which may be secret
 * @throws ServiceSettingsError
 */
export function readOriginOrThrow(baseUrl: string, name = "The base URL"): string {
  const url = URL.parse(baseUrl);
  const problem = problemOf(url);
  if (url === null || problem !== null)
    throw new ServiceSettingsError("bad-base-url", `${name} ${problem}.`, hint);
  return url.origin;
}

/** A base URL is stored and shown, so it has no part in which a secret is usual. */
function problemOf(url: URL | null): string | null {
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    return "is not an http or https address";
  if (url.username !== "" || url.password !== "") return "contains a user name or password";
  return /[?#]/.test(url.href) ? "contains a query or fragment (? or #)" : null;
}
