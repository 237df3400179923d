/** Nine values that are wrong for most fields, and the cells for the types that accept them. */
import { parseJsonOrThrow } from "../../../schema/json.ts";

export const wrongTexts = [
  "null",
  "true",
  "12",
  '"text"',
  "[]",
  "{}",
  "1e400",
  '"12"',
  '{"a":{"b":[1]}}',
] as const;
export type WrongText = (typeof wrongTexts)[number];

export type FieldType = "text" | "integer" | "decimal" | "flag" | "open" | "document";

const asGiven = { "[]": "[]", "{}": "{}", '{"a":{"b":[1]}}': '{"a":{"b":[1]}}' };

/** The cell for each value that a type accepts; other values are of a wrong type. */
export const readings: Readonly<Record<FieldType, Partial<Record<WrongText, unknown>>>> = {
  text: { null: null, '"text"': "text", '"12"': "12" },
  integer: { null: null, "12": 12n, '"12"': 12n },
  decimal: { null: null, "12": 12, '"12"': 12, "1e400": "1e400" },
  flag: { null: null, true: 1n },
  open: { null: null, true: 1n, "12": 12n, '"text"': "text", "1e400": "1e400", '"12"': "12", ...asGiven },
  document: { null: null, ...asGiven },
};

export const jsonValue = (text: string): unknown => parseJsonOrThrow(text).value;
