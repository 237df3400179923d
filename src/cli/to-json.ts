/** JSON for programs: whole numbers of any size stay numbers, digit for digit. */
import { numberText } from "../../exports/number-text.ts";

interface JsonWithRaw {
  rawJSON(text: string): unknown;
}

export function toJson(value: unknown): string {
  const exact = JSON as unknown as JsonWithRaw;
  return JSON.stringify(value, (_key, part) =>
    typeof part === "bigint" ? exact.rawJSON(numberText(part)) : part,
  );
}
