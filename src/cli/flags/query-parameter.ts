/** `-p name=value`: what a statement's parameter is given on the command line. */
import { InvalidArgumentError } from "commander";
import type { Cell } from "../../../schema/fields.ts";

/** What commander calls for each `-p`. */
export function collectParameter(
  text: string,
  earlier: Readonly<Record<string, Cell>> = {},
): Readonly<Record<string, Cell>> {
  const [, name, value = ""] = text.match(/^([\p{L}\p{N}_]+)=(.*)$/su) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It must be name=value, as in brand=comexim.");
  if (Object.hasOwn(earlier, name)) throw new InvalidArgumentError(`There are two values for ${name}.`);
  return { ...earlier, [name]: readParameter(value) };
}

/**
 * What is a number, true, false, null or a quoted string in JSON is that, as SQLite has it; everything else is text as it
 * stands, and so is a whole number beyond SQLite's 64 bits. Quotes make text of what would be a number.
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
