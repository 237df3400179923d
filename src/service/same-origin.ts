/**
 * Which addresses are followed. In: a link as the service wrote it, and where it was found. Out: the address to ask, or
 * why it is not asked. It never sees a response and never resolves a name: only the origin is compared.
 */

/** Why a link is not followed; recorded with the link and shown to people. */
export type SkippedLink =
  | "empty"
  | "too-long"
  | "template"
  | "not-a-url"
  | "other-scheme"
  | "userinfo"
  | "scheme-downgrade"
  | "other-origin";

const maxLength = 8192;

/**
 * A path, and perhaps a query, that URL leaves as it is: nothing to encode, no dot segments. Nearly all links are such
 * ones, and a URL object for each of them would be one of the dearest steps of reading a body.
 */
const plainPath = /^\/(?:[\w~-][\w.~-]*\/)*(?:[\w~-][\w.~-]*)?(?:\?[\w.~=&-]*)?$/;

/**
 * Resolves a link found in an answer. Every link that is recorded or followed goes through here, so that what the mirror
 * holds and what the door asks are spelt alike.
 * @param href the link as given; absolute, or relative to `base`
 * @param base the address of the answer it was found in (after redirects)
 * @param origin the service's origin, as `new URL(baseUrl).origin` writes it
 * @returns the absolute address as WHATWG URL writes it, without its fragment; or the reason to skip it
 */
export function resolveLink(
  href: string,
  base: string,
  origin: string,
): { readonly url: string } | { readonly skipped: SkippedLink } {
  if (href.length > maxLength) return { skipped: "too-long" };
  if (href.startsWith(origin) && plainPath.test(href.slice(origin.length))) return { url: href };
  if (href.trim() === "") return { skipped: "empty" };
  if (/[{}]/.test(href)) return { skipped: "template" };
  const url = URL.parse(href, base);
  if (url === null) return { skipped: "not-a-url" };
  // `blob:https://api.example/…` has the origin https://api.example: the scheme must be looked at for itself.
  if (url.protocol !== "http:" && url.protocol !== "https:") return { skipped: "other-scheme" };
  if (url.username !== "" || url.password !== "") return { skipped: "userinfo" };
  if (url.origin !== origin) {
    const isDowngrade = url.protocol === "http:" && origin === `https://${url.host}`;
    return { skipped: isDowngrade ? "scheme-downgrade" : "other-origin" };
  }
  if (url.href.length > maxLength) return { skipped: "too-long" };
  if (href.includes("#")) url.hash = "";
  return { url: url.href };
}

/** An address for showing: without the user and password that somebody may have put in it. */
export function withoutUserinfo(url: string): string {
  return url.replace(/^([\t\n\r ]*(?:[a-z][a-z\d+.-]*:)?[\\/]*)[^\\/?#]*@/i, "$1");
}
