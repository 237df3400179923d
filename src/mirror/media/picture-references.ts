/**
 * The pictures that a body refers to. In: a parsed body, and what its relative links are relative to. Out: addresses, each
 * with the field that has it. Pure. A field is known to be of pictures by its name alone: whatever else looks like an
 * address stays a text.
 */
import { isRecord, toPointer } from "../../../schema/envelope.ts";

export interface PictureReference {
  /** JSON pointer into the body. */
  readonly field: string;
  /** Absolute, `http:` or `https:`, without a fragment. */
  readonly url: string;
}

const pictureField = /^(?:avatar|main_picture|pictures?|photos?)$/;
/** The way to a page about the picture, or to a resource. */
const noPicture = /^(?:href|spec|.*_url)$/;
/** Whole, or beginning at the host or the root: what a label could not be. */
const address = /^(?:https?:)?\/\/?[^\s]/i;
const maxLength = 8192;

export function pictureReferencesIn(body: unknown, baseUrl: string): PictureReference[] {
  const found: PictureReference[] = [];
  const visit = (value: unknown, path: readonly PropertyKey[], isPicture: boolean): void => {
    if (typeof value === "string") {
      const url = isPicture ? readAddress(value, baseUrl) : null;
      if (url !== null) found.push({ field: toPointer(path).toWellFormed(), url });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index], isPicture);
    } else if (isRecord(value)) {
      for (const [name, item] of Object.entries(value))
        visit(item, [...path, name], (isPicture || pictureField.test(name)) && !noPicture.test(name));
    }
  };
  visit(body, [], false);
  return found;
}

function readAddress(text: string, baseUrl: string): string | null {
  if (text.length > maxLength || !address.test(text)) return null;
  const url = URL.parse(text, baseUrl);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  // What names a user would be a credential, if not hers.
  if (url.username !== "" || url.password !== "") return null;
  url.hash = "";
  return url.href;
}
