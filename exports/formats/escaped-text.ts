/**
 * Text that readers cannot hold, written so that they can, and read back. UTF-8 has no lone surrogates, many JSON readers refuse
 * their escapes, and many programs end a text at NUL.
 */

const special = /[\0\p{Surrogate}]|u0000|ud[89a-f][0-9a-f]{2}/gu;
const escapes = /\\u(0000|d[89a-f][0-9a-f]{2})/g;
const beginsWithCode = /^(?:u0000|ud[89a-f][0-9a-f]{2})/;
const codeLength = 5;

/** A longer text is written in slices. */
export const maxSliceLength = 65_536;

/**
 * In every format of an export, lone surrogates and NUL are `\ud800` or `\u0000`, six characters each. Backslashes directly before
 * such an escape, or before text that looks like one, are doubled. JSON as text stays JSON: of each text in it, the same is true.
 */
export function escapeText(text: string): string {
  return escapeSlice(text, 0, text.length);
}

/** How a text is written, slice by slice. */
export type WriteSlice = (text: string, from: number, to: number) => string;

export function* slicesOf(text: string, write: WriteSlice): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = endOfSlice(text, from);
    yield write(text, from, to);
    from = to;
  }
}

/** Between two characters, and not within what looks like an escape. */
function endOfSlice(text: string, from: number): number {
  const end = from + maxSliceLength;
  if (end >= text.length) return text.length;
  for (let at = end - 1; at > end - codeLength; at--)
    if (beginsWithCode.test(text.slice(at, at + codeLength))) return at;
  return isPair(text, end - 1) ? end - 1 : end;
}

const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;

/** `escapeText` of a slice. */
export const escapeSlice: WriteSlice = (text, from, to) => {
  const slice = text.slice(from, to);
  // Faster than a regular expression.
  const canHaveCode = slice.indexOf("\\") >= 0 || text[from - 1] === "\\";
  if (!canHaveCode && isWritable(slice)) return slice;
  return slice.replace(special, (found, index: number) => {
    const at = from + index;
    return "\\".repeat(at - startOfBackslashes(text, at)) + (found.length > 1 ? found : escapeOf(found));
  });
};

/** Of answers, and of bodies as sent, which have neither: NUL and lone surrogates are escaped, and nothing is doubled. */
export const writePlainSlice: WriteSlice = (text, from, to) => {
  const slice = text.slice(from, to);
  return isWritable(slice) ? slice : slice.replace(unwritable, escapeOf);
};

export const writePlain = (text: string): string => writePlainSlice(text, 0, text.length);

const unwritable = /[\0\p{Surrogate}]/gu;
const isWritable = (text: string): boolean => text.indexOf("\0") < 0 && text.isWellFormed();
const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The inverse of `escapeText`. */
export function unescapeText(text: string): string {
  if (text.indexOf("\\") < 0) return text;
  const parts: string[] = [];
  let copied = 0;
  for (const { 0: found, 1: code = "", index } of text.matchAll(escapes)) {
    const end = index + 1;
    const start = startOfBackslashes(text, end);
    const count = end - start;
    const character = count % 2 === 1 ? String.fromCharCode(Number.parseInt(code, 16)) : `u${code}`;
    parts.push(text.slice(copied, start + Math.floor(count / 2)), character);
    copied = index + found.length;
  }
  parts.push(text.slice(copied));
  return parts.join("");
}

/** A loop: a regular expression would overflow V8's stack with millions of them. */
function startOfBackslashes(text: string, end: number): number {
  let start = end;
  while (text[start - 1] === "\\") start--;
  return start;
}

const loneInJson = /\\ud[89a-f][0-9a-f]{2}/g;

/** JSON with `\ud800` as text wherever a lone surrogate was. All other text stays as it is, so reading does not restore it. */
export function withoutLoneSurrogates(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(loneInJson, (found, at: number) => {
    const isEscape = (at - startOfBackslashes(json, at)) % 2 === 0;
    return isEscape ? `\\${found}` : found;
  });
}
