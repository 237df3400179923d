/**
 * The types of the service's fields. Each type accepts the variants from the field notes and converts a value to a cell:
 * text, an integer (bigint), a real number (number), or null. An integer beyond 2^53, and any number that a double would
 * change, becomes text.
 */
import { z } from "zod";
import { exactNumber, isRawNumber, type RawNumber } from "./json.ts";

/** The value of a column in a row, as one of SQLite's storage classes. Text may contain NUL and lone surrogates. */
export type Cell = string | bigint | number | null;

const rawNumber = z.custom<RawNumber>(isRawNumber);
const wholeNumeral = /^-?\d+$/;

/** Text, unchanged. */
export const text = z.string().nullish();

/** A URL as sent: stored as text, and resolved only when it is followed. */
export const url = text;

/** A time as sent: ISO 8601 without a zone. */
export const timestamp = text;

/** An integer, or a string of digits. */
export const integer = z
  .union([
    z.number().refine(Number.isInteger).transform(toInteger),
    rawNumber
      .refine((value) => wholeNumeral.test(value.rawJSON))
      .transform((value) => toExactInteger(value.rawJSON)),
    z.string().regex(wholeNumeral).transform(toExactInteger),
  ])
  .nullish();

/** A decimal number, or a string with one. */
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

/** A boolean, stored as 1 or 0. */
export const flag = z
  .boolean()
  .transform((value) => (value ? 1n : 0n))
  .nullish();

/** A field without a specified type: scalars are stored as they are, objects and arrays as JSON text. */
export const open = z.unknown().transform(toCell).optional();

/** An object or array, stored in one column as JSON text. */
export const document = z
  .custom<object>((value) => typeof value === "object" && value !== null && !isRawNumber(value))
  .transform((value) => JSON.stringify(value))
  .nullish();

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
