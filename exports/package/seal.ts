/** The descriptor's hash of itself: it has the hashes of all other files, so that one hash covers an export. */
import { hash } from "node:crypto";
import { hashPrefix } from "./names.ts";

/** In place of the hash, while it is made and checked. */
export const blankSeal = hashPrefix + "0".repeat(64);

/** As in the text: within another text, quotation marks are escaped. */
const propertyWith = (seal: string) => `"descriptorHash": "${seal}"`;

const sealOf = (text: string) => hashPrefix + hash("sha256", text);

/** @param text with `blankSeal` as `descriptorHash` */
export const sealed = (text: string): string =>
  text.replace(propertyWith(blankSeal), propertyWith(sealOf(text)));

/** Whether the text is as it was sealed. @param seal undefined for a text without one, which cannot be checked */
export const isSealed = (text: string, seal: string | undefined): boolean =>
  seal === undefined || sealOf(text.replace(propertyWith(seal), propertyWith(blankSeal))) === seal;
