/**
 * Text as a CSV file holds it, and back. Two things are changed, both reversibly and one after the other:
 *
 * 1. What UTF-8 or many readers cannot hold, lone surrogates and NUL, is written `\ud800` or `\u0000`. Backslashes
 *    right before such an escape, or before text that looks like one, are doubled; all others stay as they are.
 * 2. What a spreadsheet would run as a formula gets an apostrophe before it: `=`, `+`, `-`, `@` and their full-width
 *    forms at the start, after a separator, a quote or a line break (where a reader that expects another separator
 *    starts a cell), and a tab or line break at the start. Apostrophes already there get one more. `raw` leaves this out.
 */
export interface CsvTextOptions {
  /** Whether formulas are left as they are. */
  readonly raw: boolean;
}

const unwritable = /[\0\\]/;
const escapable = /(?<!\\)(\\*)([\0\p{Surrogate}]|u0000|ud[89a-f][0-9a-f]{2})/gu;
const escaped = /(?<!\\)(\\+)u(0000|d[89a-f][0-9a-f]{2})/g;

const formulaStart = /(?<=^|[,;|\t"\r\n])(?='*[=+\-@＝＋－＠])|^(?='*[\t\r\n])/g;
const guardedStart = /(?<=^|[,;|\t"\r\n])'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r\n])/g;

export function toCsvText(text: string, { raw }: CsvTextOptions): string {
  const written = unwritable.test(text) || !text.isWellFormed() ? text.replace(escapable, writeEscape) : text;
  return raw ? written : written.replace(formulaStart, "'");
}

/** The inverse of `toCsvText`, given the same options. */
export function fromCsvText(text: string, { raw }: CsvTextOptions): string {
  return (raw ? text : text.replace(guardedStart, "")).replace(escaped, readEscape);
}

function writeEscape(_match: string, backslashes: string, special: string): string {
  const code = special.length > 1 ? special : `\\u${special.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return backslashes + backslashes + code;
}

function readEscape(_match: string, backslashes: string, hex: string): string {
  const kept = backslashes.slice(0, backslashes.length / 2);
  return kept + (backslashes.length % 2 === 1 ? String.fromCharCode(Number.parseInt(hex, 16)) : `u${hex}`);
}
