/** Scans of JSON text, in linear time. */

/** The index of the quote that ends a text, or the length of the document without one. */
export function closingQuote(text: string, opening: number): number {
  for (let index = opening + 1; ; index++) {
    index = text.indexOf('"', index);
    if (index === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return index;
  }
}

/** An object of which the keys are collected, or a list of which the items are counted. */
interface Open {
  readonly path: readonly string[];
  /** Null for a list. */
  readonly keys: Set<string> | null;
  /** The key or position of the member that is being read. */
  member: string;
}

/**
 * Finds keys that are repeated in the outermost object, in an object directly within it, or in an item of a list directly
 * within it.
 * @param document valid JSON
 * @returns their paths of one key, of two, or of a key, a position and a key
 */
export function findRepeatedKeys(document: string): string[][] {
  const repeated: string[][] = [];
  /** Null for what is farther within. */
  const open: (Open | null)[] = [];
  for (let index = 0; index < document.length; index++) {
    const code = document.charCodeAt(index);
    const inner = open.at(-1) ?? null;
    if (code === 0x22) {
      const end = closingQuote(document, index);
      if (inner?.keys && isKey(document, end)) {
        inner.member = String(JSON.parse(document.slice(index, end + 1)));
        if (inner.keys.has(inner.member)) repeated.push([...inner.path, inner.member]);
        inner.keys.add(inner.member);
      }
      index = end;
    } else if (code === 0x7b || code === 0x5b) open.push(opened(open.at(-1), code === 0x5b));
    else if (code === 0x7d || code === 0x5d) open.pop();
    else if (code === 0x2c && inner?.keys === null) inner.member = String(Number(inner.member) + 1);
  }
  return repeated;
}

/** @param outer what it is within; undefined for the outermost */
function opened(outer: Open | null | undefined, isList: boolean): Open | null {
  if (outer === undefined) return isList ? null : { path: [], keys: new Set(), member: "" };
  if (outer === null || (outer.path.length > 0 && (isList || outer.keys !== null))) return null;
  const path = [...outer.path, outer.member];
  return isList ? { path, keys: null, member: "0" } : { path, keys: new Set(), member: "" };
}

/** Whether a colon follows the text that ends there. */
function isKey(document: string, closing: number): boolean {
  let index = closing + 1;
  while (document.charCodeAt(index) <= 0x20) index++;
  return document.charCodeAt(index) === 0x3a;
}
