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

/** An object of which the keys are collected. */
interface OpenObject {
  readonly path: readonly string[];
  readonly keys: Set<string>;
  lastKey: string;
}

/**
 * Finds keys that are repeated in the outermost object, or in an object directly within it.
 * @param document valid JSON
 * @returns their paths of one or two keys
 */
export function findRepeatedKeys(document: string): string[][] {
  const repeated: string[][] = [];
  /** Null for a list, and for an object farther within. */
  const open: (OpenObject | null)[] = [];
  for (let index = 0; index < document.length; index++) {
    const code = document.charCodeAt(index);
    const object = open.at(-1) ?? null;
    if (code === 0x22) {
      const end = closingQuote(document, index);
      if (object !== null && isKey(document, end)) {
        object.lastKey = String(JSON.parse(document.slice(index, end + 1)));
        if (object.keys.has(object.lastKey)) repeated.push([...object.path, object.lastKey]);
        object.keys.add(object.lastKey);
      }
      index = end;
    } else if (code === 0x7b) open.push(opened(open));
    else if (code === 0x5b) open.push(null);
    else if (code === 0x7d || code === 0x5d) open.pop();
  }
  return repeated;
}

function opened(outer: readonly (OpenObject | null)[]): OpenObject | null {
  const [outermost] = outer;
  if (outermost === undefined) return { path: [], keys: new Set(), lastKey: "" };
  if (outermost === null || outer.length > 1) return null;
  return { path: [outermost.lastKey], keys: new Set(), lastKey: "" };
}

/** Whether a colon follows the text that ends there. */
function isKey(document: string, closing: number): boolean {
  let index = closing + 1;
  while (document.charCodeAt(index) <= 0x20) index++;
  return document.charCodeAt(index) === 0x3a;
}
