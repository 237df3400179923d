/**
 * Finds the pictures that a body refers to. Pure. Only the name of a field shows that it contains a picture: any other text
 * that looks like an address is ignored.
 */
import { toPointer } from "../../../schema/envelope.ts";
import { limits } from "../../../schema/input/limits.ts";
import { isRecord } from "../../../schema/json.ts";

export interface PictureReference {
  /** JSON pointer into the body. */
  readonly field: string;
  /** Absolute, `http:` or `https:`, without a fragment. */
  readonly url: string;
}

const pictureField = /^(?:avatar|main_picture|pictures?|photos?)$/;
/** Fields inside a picture with the address of a page or a resource. */
const otherField = /^(?:href|spec|.*_url)$/;
/** A whole URL, or one that begins at the host or the root: a label never does. */
const address = /^(?:https?:)?\/\/?[^\s]/i;

/** @param baseUrl relative addresses resolve against it */
export function pictureReferencesIn(body: unknown, baseUrl: string): PictureReference[] {
  const found: PictureReference[] = [];
  const visit = (value: unknown, path: readonly PropertyKey[], isPicture: boolean): void => {
    if (typeof value === "string") {
      const url = isPicture ? parseAddress(value, baseUrl) : null;
      if (url !== null) found.push({ field: toPointer(path).toWellFormed(), url });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index], isPicture);
    } else if (isRecord(value)) {
      for (const [name, item] of Object.entries(value))
        visit(item, [...path, name], (isPicture || pictureField.test(name)) && !otherField.test(name));
    }
  };
  visit(body, [], false);
  return found;
}

function parseAddress(text: string, baseUrl: string): string | null {
  if (text.length > limits.urlLength || !address.test(text)) return null;
  const url = URL.parse(text, baseUrl);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  // A URL with a user name or password would send a credential.
  if (url.username !== "" || url.password !== "") return null;
  url.hash = "";
  return url.href;
}
