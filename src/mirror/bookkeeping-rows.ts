/**
 * What everything else in a mirror is computed from, apart from the bodies themselves: its bookkeeping, row by row, to be
 * kept elsewhere and put back. Out: rows as plain objects, the same ones for the same state. In: such rows, into a new mirror.
 */
import { isoTimeOf, millisOf, timeColumns } from "../../schema/tables.ts";
import { recordFirstDerivations } from "./derive/derivations.ts";
import { type Connection, withLateReferences } from "./file/connection.ts";
import { identityKeys } from "./file/meta.ts";

export type BookkeepingCell = string | number | null;
export type BookkeepingRow = Readonly<Record<string, BookkeepingCell>>;

/** Kept with the identity, computed anew, or about the compressing of bodies, which a new mirror begins anew. */
const leftOutOfMeta = [...identityKeys, "compressed_content", "stale_dictionary"];

interface EssentialTable {
  readonly key: string;
  readonly condition?: string;
}

/**
 * In the order of their names. Whatever is not among them is computed by a rebuild; a body is named by its SHA-256. `_reading` is
 * what only computed rows tell (`noteFirstReadings`).
 */
const tables = {
  issue: { key: "resource_id, pointer, code", condition: "code in ('page-loop', 'partial-listing')" },
  media: { key: "id" },
  media_file: { key: "media_id, seq" },
  media_use: { key: "resource_id, field, media_id" },
  meta: { key: "key", condition: `key not in (${leftOutOfMeta.map((key) => `'${key}'`).join(", ")})` },
  page: { key: "id" },
  pass: { key: "collection_id" },
  reading: { key: "id" },
  resource: { key: "id" },
  resource_past: { key: "id, to_run" },
  revision: { key: "resource_id, seq" },
  run: { key: "id" },
} satisfies Readonly<Record<string, EssentialTable>>;

export type BookkeepingTable = keyof typeof tables;

export const bookkeepingTables = Object.keys(tables) as readonly BookkeepingTable[];

/** Every column, ordered by key, times as ISO 8601, SHA-256 in hex, and for a revision its body's instead of an id that means nothing elsewhere. */
export function* readBookkeepingRows(db: Connection, name: BookkeepingTable): Generator<BookkeepingRow> {
  const { key, condition = "true" }: EssentialTable = tables[name];
  if (name === "reading") recordFirstDerivations(db);
  const columns = columnsOf(db, name).map((column) => {
    if (column === "sha256") return "lower(hex(sha256)) as sha256";
    if (column === "content_id")
      return "(select lower(hex(sha256)) from _content c where c.id = content_id) as sha256";
    return timeColumns.has(column) ? `${isoTimeOf(column)} as ${column}` : column;
  });
  // A mirror that no later version has written yet has none.
  if (columns.length === 0) return;
  const select = `select ${columns.join(", ")} from _${name} where ${condition} order by ${key}`;
  yield* db.prepare<[], BookkeepingRow>(select).iterate();
}

/** Puts rows of one table back; references to what comes later are allowed until the transaction ends. */
export type PutRows = (name: BookkeepingTable, rows: Iterable<BookkeepingRow>) => void;

/** Keeps a body, whose revisions may have been put back before it. */
export type PutBody = (sha256: string, body: Uint8Array) => void;

/**
 * Fills an empty mirror, in one transaction that is left open until `fill` is done.
 * @throws EssentialRowError for rows that do not fit the tables; what `fill` throws
 */
export async function restoreBookkeeping(
  db: Connection,
  fill: (putRows: PutRows, putBody: PutBody) => Promise<void>,
): Promise<void> {
  const insertBody = db.prepare(
    "insert into _content (id, sha256, codec, size, body) values (?, ?, 'identity', ?, ?)",
  );
  recordFirstDerivations(db);
  const contentIds = new Map<string, number>();
  const contentIdOf = (sha256: BookkeepingCell | undefined): number => {
    if (typeof sha256 !== "string") throw new BookkeepingRowError("a revision names no body");
    const id = contentIds.get(sha256) ?? contentIds.size + 1;
    contentIds.set(sha256, id);
    return id;
  };
  const putRows: PutRows = (name, rows) => {
    const columns = columnsOf(db, name);
    const values = columns.map((column) => {
      if (column === "sha256") return "unhex(:sha256)";
      return timeColumns.has(column) ? millisOf(`:${column}`) : `:${column}`;
    });
    const insert = db.prepare(`insert into _${name} (${columns.join(", ")}) values (${values.join(", ")})`);
    const defaults = defaultsOf(db, name);
    for (const row of rows) {
      const { sha256, ...rest } = row;
      const isRevision = name === "revision";
      const given = isRevision ? { ...rest, content_id: contentIdOf(sha256) } : row;
      const stranger = Object.keys(given).find((column) => !columns.includes(column));
      if (stranger !== undefined)
        throw new BookkeepingRowError(`_${name} has no column ${JSON.stringify(stranger)}`);
      insert.run({ ...defaults, ...given });
    }
  };
  const putBody: PutBody = (sha256, body) =>
    void insertBody.run(contentIdOf(sha256), Buffer.from(sha256, "hex"), body.byteLength, body);
  const stray = await withLateReferences(db, () => fill(putRows, putBody)).catch((error) => {
    throw isRefusal(error) ? new BookkeepingRowError(error.message, { cause: error }) : error;
  });
  if (stray !== null) throw new BookkeepingRowError(`a row of ${stray} refers to one that is not there`);
}

/** Rows that no mirror has. */
export class BookkeepingRowError extends Error {
  override readonly name = "EssentialRowError";
}

function isRefusal(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_CONSTRAINT");
}

function columnsOf(db: Connection, name: BookkeepingTable): string[] {
  return db.prepare<[], string>(`select name from pragma_table_info('_${name}') order by cid`).pluck().all();
}

/** What a column that a later version has added is where an earlier one wrote the row. */
function defaultsOf(db: Connection, name: BookkeepingTable): BookkeepingRow {
  const columns = db
    .prepare<[], { name: string; value: string | null }>(
      `select name, dflt_value as value from pragma_table_info('_${name}')`,
    )
    .all();
  const evaluate = (value: string | null) =>
    value === null ? null : (db.prepare<[], BookkeepingCell>(`select ${value}`).pluck().get() ?? null);
  return Object.fromEntries(columns.map(({ name, value }) => [name, evaluate(value)]));
}
