/** JSON for programs: numbers of any size stay numbers, digit for digit, and -0 and infinities are what `numberText` says. */
import { numberText } from "../../../exports/number-text.ts";

interface JsonWithRaw {
  rawJSON(text: string): unknown;
}

export function toJson(value: unknown): string {
  const exact = JSON as unknown as JsonWithRaw;
  return JSON.stringify(value, (_key, part) => {
    if (typeof part !== "bigint" && typeof part !== "number") return part;
    const number = Number(part);
    const isExact = typeof part === "bigint" ? Number.isSafeInteger(number) : isWrittenExactly(number);
    return isExact ? number : exact.rawJSON(numberText(part));
  });
}

function isWrittenExactly(number: number): boolean {
  return Number.isFinite(number) && !Object.is(number, -0);
}
