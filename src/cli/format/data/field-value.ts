/** Values of fields for people. */
import { describeColumn } from "../../../../schema/dictionary/columns.ts";
import { formatSecond } from "../../terminal/format.ts";

/** `yes` or `no` for a boolean, which tables store as 1 or 0; a short time; any other value as it is. */
export function readableValue<Value>(kind: string, field: string, value: Value): Value | string {
  const type = describeColumn(kind === "me" ? "user" : kind, field)?.type;
  if (type === "time" && typeof value === "string") return formatSecond(value);
  if (type !== "boolean") return value;
  // A number or a bigint; text from an export.
  const text = String(value);
  return text === "1" ? "yes" : text === "0" ? "no" : value;
}

/** A change with both values as `readableValue` gives them. */
export function readableChange<Value>(
  kind: string,
  { field, before, after }: { readonly field: string; readonly before: Value; readonly after: Value },
) {
  return {
    field,
    before: readableValue(kind, field, before),
    after: readableValue(kind, field, after),
  };
}
