/**
 * The types that a field of the service can have, each with the tolerant readings of the field notes, and each turned
 * into the one value that its column holds: text, a whole number (bigint), a real number (number), or null.
 * A whole number beyond 2^53, and any number that a double would change, is kept as text.
 */
import { z } from "zod";
import { exactNumber, isRawNumber, type RawNumber } from "./json.ts";

/** What one column of one row holds, as SQLite's storage classes. Text may hold NUL and lone surrogates. */
export type Cell = string | bigint | number | null;

const rawNumber = z.custom<RawNumber>(isRawNumber);
const wholeNumeral = /^-?\d+$/;

/** Text, byte for byte. */
export const text = z.string().nullish();

/** A URL as given: kept as text, resolved only where it is followed. */
export const url = text;

/** A point in time as the service writes it: ISO 8601 without a zone, kept as given. */
export const timestamp = text;

/** A whole number, also when it is sent as a string of digits. */
export const integer = z
  .union([
    z.number().refine(Number.isInteger).transform(toInteger),
    rawNumber
      .refine((value) => wholeNumeral.test(value.rawJSON))
      .transform((value) => toExactInteger(value.rawJSON)),
    z.string().regex(wholeNumeral).transform(toExactInteger),
  ])
  .nullish();

/** A decimal number, also when it is sent as a string. */
export const decimal = z
  .union([
    z.number(),
    rawNumber.transform((value) => value.rawJSON),
    z
      .string()
      .regex(/^-?\d+(\.\d+)?$/)
      .transform((value) => exactNumber(value) ?? value),
  ])
  .nullish();

/** True or false, as 1 or 0. */
export const flag = z
  .boolean()
  .transform((value) => (value ? 1n : 0n))
  .nullish();

/** A field whose type the specification leaves open: scalars as they are, anything else as JSON text. */
export const open = z.unknown().transform(toCell).optional();

/** An object or array that stays one column, as JSON text. */
export const document = z
  .custom<object>((value) => typeof value === "object" && value !== null && !isRawNumber(value))
  .transform((value) => JSON.stringify(value))
  .nullish();

/** Any JSON value as one cell. */
function toCell(value: unknown): Cell {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return Number.isInteger(value) ? toInteger(value) : value;
    case "boolean":
      return value ? 1n : 0n;
    default:
      if (value === null || value === undefined) return null;
      return isRawNumber(value) ? value.rawJSON : JSON.stringify(value);
  }
}

function toInteger(value: number): bigint | string {
  return Number.isSafeInteger(value) ? BigInt(value) : String(value);
}

function toExactInteger(digits: string): bigint | string {
  return Number.isSafeInteger(Number(digits)) ? BigInt(digits) : digits;
}
