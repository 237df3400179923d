/** The inverse of `json.ts` and `ndjson.ts`, for files that they wrote: a row on a line of its own. */
import type { Cell } from "../schema/fields.ts";
import type { Row } from "./table.ts";

interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): Readonly<Record<string, Cell>>;
}

/** Node 22 has this; TypeScript's library does not name it yet. */
const exactJson = JSON as unknown as JsonWithSource;

/** Every number is the one that was written: a whole one beyond 2^53 is a bigint. */
export function* readJsonRows(lines: Iterable<string>, columns: readonly string[]): Generator<Row> {
  for (const line of lines) {
    if (!line.startsWith("{")) continue;
    const text = line.endsWith(",") ? line.slice(0, -1) : line;
    const row = exactJson.parse(text, keepExact);
    yield columns.map((column) => row[column] ?? null);
  }
}

function keepExact(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isRounded = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}
