/** The named parameters of a statement, and their values as people write them. */
import type { Cell } from "../../../schema/fields.ts";

/**
 * A number, `true`, `false`, `null` or a quoted string in JSON becomes that value; anything else is text. So is a whole
 * number of more than 64 bits. JSON quotes turn a number into text.
 */
export function readParameter(text: string): Cell {
  if (/^-?(0|[1-9]\d*)$/.test(text)) {
    const whole = BigInt(text);
    return BigInt.asIntN(64, whole) === whole ? whole : text;
  }
  if (text !== text.trim() || !/^["\d-]|^(true|false|null)$/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "boolean" ? BigInt(value) : (value as string | number | null);
  } catch {
    return text;
  }
}

/**
 * Texts, quoted names and comments, in which a colon means nothing; or a parameter. One without an end lasts to the end of
 * the statement, so that nothing is read twice. A doubled quote ends one text and begins the next.
 */
const token =
  /'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[:@$]([\p{L}\p{N}_]+)/gu;

/** In the order of the statement, without `:`. For a form: only SQLite knows them for sure. */
export const parametersOf = (sql: string): readonly string[] => [
  ...new Set([...sql.matchAll(token)].flatMap(([, name]) => (name === undefined ? [] : [name]))),
];
