/**
 * The rows of a mirror that cannot be computed from its bodies, for backups. Out: rows as plain objects, the same for
 * the same state. In: such rows, into a new mirror.
 */
import { isoTimeOf, millisOf, timeColumns } from "../../schema/tables.ts";
import { recordFirstDerivations } from "./derive/derivations.ts";
import { type Connection, withDeferredReferences } from "./file/connection.ts";
import { identityKeys, passedOnKey } from "./file/meta.ts";
import { prepare, q } from "./file/statements.ts";

export type BookkeepingCell = string | number | null;
export type BookkeepingRow = Readonly<Record<string, BookkeepingCell>>;

interface BackupTable {
  readonly key: string;
  readonly condition?: string;
}

/**
 * Keys of `_meta` that a backup does not hold: the manifest has the identity, a new mirror compresses its bodies anew, and a
 * command receives changes on one machine.
 */
const excludedMeta = [...identityKeys, passedOnKey, "compressed_content", "stale_dictionary"];

/**
 * Sorted by name. All other tables are computed by a rebuild; bodies are entries of their own, named by their
 * SHA-256. `_first_derivation` is the temporary table of `recordFirstDerivations`.
 */
const tables = {
  drift: { key: "kind, pointer, code" },
  first_derivation: { key: "id" },
  headers: { key: "id" },
  issue: { key: "resource_id, pointer, code", condition: "code in ('page-loop', 'partial-listing')" },
  media: { key: "id" },
  media_file: { key: "media_id, seq" },
  media_use: { key: "resource_id, field, media_id" },
  meta: { key: "key", condition: `key not in (${excludedMeta.map((key) => `'${key}'`).join(", ")})` },
  page: { key: "id" },
  pass: { key: "collection_id" },
  resource: { key: "id" },
  resource_past: { key: "id, to_run" },
  revision: { key: "resource_id, seq" },
  run: { key: "id" },
} satisfies Readonly<Record<string, BackupTable>>;

export type BookkeepingTable = keyof typeof tables;

export const bookkeepingTables = Object.keys(tables) as readonly BookkeepingTable[];

/**
 * All columns, ordered by key. Times are ISO 8601, a SHA-256 is hex; a revision has that of its body instead of an
 * id.
 */
export function* readBookkeepingRows(db: Connection, name: BookkeepingTable): Generator<BookkeepingRow> {
  const { key, condition = "true" }: BackupTable = tables[name];
  if (name === "first_derivation") recordFirstDerivations(db);
  const columns = columnsOf(db, name).map((column) => {
    if (column === "sha256") return "lower(hex(sha256)) as sha256";
    if (column === "content_id")
      return "(select lower(hex(sha256)) from _content c where c.id = content_id) as sha256";
    return timeColumns.has(column) ? `${isoTimeOf(column)} as ${column}` : column;
  });
  // Raw, since the table is given by name.
  const select = `select ${columns.join(", ")} from _${name} where ${condition} order by ${key}`;
  yield* db.prepare<[], BookkeepingRow>(select).iterate();
}

/** Inserts rows of one table; they may refer to rows that follow later. */
export type PutRows = (name: BookkeepingTable, rows: Iterable<BookkeepingRow>) => void;

/** Inserts a body, before or after its revisions. */
export type PutBody = (sha256: string, body: Uint8Array) => void;

/**
 * Fills an empty mirror in one transaction, which lasts until `fill` resolves.
 * @throws BookkeepingRowError for rows that do not fit the tables; errors of `fill`
 */
export async function restoreBookkeeping(
  db: Connection,
  fill: (putRows: PutRows, putBody: PutBody) => Promise<void>,
): Promise<void> {
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
    const insert = prepareInsert(db, name, columns);
    const defaults = defaultsOf(db, name);
    for (const row of rows) {
      const { sha256, ...others } = row;
      const values = name === "revision" ? { ...others, content_id: contentIdOf(sha256) } : row;
      requireKnownColumns(name, columns, values);
      insert.run({ ...defaults, ...values });
    }
  };
  const insertBody = prepare(db, (p: { id: number; sha256: Buffer; size: number; body: Uint8Array }) =>
    q
      .insertInto("_content")
      .values({ id: p.id, sha256: p.sha256, codec: "identity", size: p.size, body: p.body }),
  );
  const putBody: PutBody = (sha256, body) => {
    const id = contentIdOf(sha256);
    insertBody.run({ id, sha256: Buffer.from(sha256, "hex"), size: body.byteLength, body });
  };
  const danglingTable = await withDeferredReferences(db, () => fill(putRows, putBody)).catch((error) => {
    throw isConstraintError(error) ? new BookkeepingRowError(error.message, { cause: error }) : error;
  });
  if (danglingTable !== null)
    throw new BookkeepingRowError(`a row of ${danglingTable} refers to a row that does not exist`);
}

/** The rows of a backup do not form a mirror. */
export class BookkeepingRowError extends Error {
  override readonly name = "BookkeepingRowError";
}

/** Raw, since the table is given by name. */
function prepareInsert(db: Connection, name: BookkeepingTable, columns: readonly string[]) {
  const values = columns.map((column) => {
    if (column === "sha256") return "unhex(:sha256)";
    return timeColumns.has(column) ? millisOf(`:${column}`) : `:${column}`;
  });
  return db.prepare<[BookkeepingRow]>(
    `insert into _${name} (${columns.join(", ")}) values (${values.join(", ")})`,
  );
}

function requireKnownColumns(name: BookkeepingTable, columns: readonly string[], row: BookkeepingRow): void {
  const unknown = Object.keys(row).find((column) => !columns.includes(column));
  if (unknown !== undefined)
    throw new BookkeepingRowError(`_${name} has no column ${JSON.stringify(unknown)}`);
}

/** The values of columns that the version which wrote the backup did not have. */
function defaultsOf(db: Connection, name: BookkeepingTable): BookkeepingRow {
  const evaluate = (defaultSql: string | null) =>
    defaultSql === null
      ? null
      : (db.prepare<[], BookkeepingCell>(`select ${defaultSql}`).pluck().get() ?? null);
  return Object.fromEntries(
    readColumns(db, name).map((column) => [column.name, evaluate(column.defaultSql)]),
  );
}

function columnsOf(db: Connection, name: BookkeepingTable): string[] {
  return readColumns(db, name).map((column) => column.name);
}

function readColumns(db: Connection, name: BookkeepingTable) {
  const select = `select name, dflt_value as defaultSql from pragma_table_info('_${name}') order by cid`;
  return db.prepare<[], { name: string; defaultSql: string | null }>(select).all();
}

function isConstraintError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_CONSTRAINT");
}
