/** Kinds of resources, and values of their fields, in words. */
import { describeColumn } from "../../schema/dictionary/columns.ts";
import { publicTables } from "../../schema/dictionary/public-tables.ts";
import { formatNumber, isLargeNumber, isWhole } from "./numbers.ts";
import { formatStoredTime } from "./times.ts";

/** A resource of a kind, in words. The kinds of lists are named like what they list: `models`, and `model`. */
export function formatKind(kind: string): string {
  if (kind === "me") return "user";
  const words = kind.replaceAll("_", " ");
  return words.endsWith("s") && !words.startsWith("?") ? `list of ${words}` : words;
}

const goneProofs = {
  response: "the service answered 404 or 410",
  listing: "its list no longer names it",
  parent: "what it belongs to is gone",
  snapshot: "a shared snapshot says so",
} as const;

/** Why a resource counts as gone. */
export const describeGoneProof = (proof: keyof typeof goneProofs): string => goneProofs[proof];

/** `yes` or `no` for a boolean, which tables store as 1 or 0; a short time; any other value as it is. */
export function readableValue<Value>(kind: string, field: string, value: Value): Value | string {
  const type = describeColumn(kind === "me" ? "user" : kind, field)?.type;
  if (type === "time") return formatStoredTime(value);
  return type === "boolean" ? yesOrNo(value) : value;
}

/** @param value a number or a bigint; text from an export */
export function yesOrNo<Value>(value: Value): Value | "yes" | "no" {
  const text = String(value);
  return text === "1" ? "yes" : text === "0" ? "no" : value;
}

/** Whether a column of an answer has the name of a boolean. */
export const isBooleanName = (name: string): boolean =>
  Object.keys(publicTables).some((table) => describeColumn(table, name)?.type === "boolean");

/** As `readableValue`, and a large whole number has separators. */
export function readableText<Value>(kind: string, field: string, value: Value): Value | string {
  const readable = readableValue(kind, field, value);
  return isWhole(readable) && isLargeNumber(readable) ? formatNumber(readable) : readable;
}

/** A change with both values as `readableText` gives them. */
export function readableChange<Value>(
  kind: string,
  { field, before, after }: { readonly field: string; readonly before: Value; readonly after: Value },
) {
  return { field, before: readableText(kind, field, before), after: readableText(kind, field, after) };
}
