/**
 * The rows of a mirror that cannot be computed from its bodies, for backups. Out: rows as plain objects, the same for
 * the same state. In: such rows, into a new mirror.
 */
import type { z } from "zod";
import { isoTimeOf, millisOf, timeColumns } from "../../../schema/tables.ts";
import { recordFirstDerivations } from "../derive/derivations.ts";
import type { Connection } from "../file/connection.ts";
import { identityKeys, passedOnKey } from "../file/meta.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import { rowShapes } from "./row-shapes.ts";

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
  linked_check: { key: "resource_id" },
  loaded: { key: "resource_id, seq" },
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
  snapshot: { key: "id" },
} satisfies Readonly<Record<string, BackupTable>>;

export type BookkeepingTable = keyof typeof tables;

/** Tables that nearly every mirror has without rows: a backup holds no entry of them then. */
export const optionalTables: ReadonlySet<BookkeepingTable> = new Set(["linked_check", "loaded", "snapshot"]);

export const bookkeepingTables = Object.keys(tables) as readonly BookkeepingTable[];

/**
 * All columns, ordered by key. Times are ISO 8601, a SHA-256 is hex; a revision has that of its body instead of an
 * id.
 */
export function* readBookkeepingRows(db: Connection, name: BookkeepingTable): Generator<BookkeepingRow> {
  const { key, condition = "true" }: BackupTable = tables[name];
  if (name === "first_derivation") recordFirstDerivations(db);
  const columns = readColumns(db, name).map(({ name: column }) => {
    if (column === "sha256") return "lower(hex(sha256)) as sha256";
    if (column === "content_id")
      return "(select lower(hex(sha256)) from _content c where c.id = content_id) as sha256";
    return timeColumns.has(column) ? `${isoTimeOf(column)} as ${column}` : column;
  });
  // Raw, since the table is given by name.
  const select = `select ${columns.join(", ")} from _${name} where ${condition} order by ${key}`;
  yield* db.prepare<[], BookkeepingRow>(select).iterate();
}

/** Inserts rows of one table; they may refer to rows that follow later. @throws BookkeepingRowError */
export type PutRows = (name: BookkeepingTable, rows: Iterable<BookkeepingRow>) => void;

/** Inserts a body, before or after its revisions. */
export type PutBody = (sha256: string, body: Uint8Array) => void;

export interface BookkeepingWriter {
  readonly putRows: PutRows;
  readonly putBody: PutBody;
  /** The SHA-256 of every body that a revision names or that was put. */
  readonly bodies: Iterable<string>;
}

/**
 * Prepares an empty mirror for rows from an untrusted source.
 * @param origin of the service
 */
export function prepareBookkeeping(db: Connection, origin: string): BookkeepingWriter {
  recordFirstDerivations(db);
  const shapes = rowShapes({ origin, excludedMeta });
  const contentIds = new Map<string, number>();
  const contentIdOf = (sha256: string): number => {
    const id = contentIds.get(sha256) ?? contentIds.size + 1;
    contentIds.set(sha256, id);
    return id;
  };
  const putRows: PutRows = (name, rows) => {
    const insert = prepareInsert(db, name);
    const defaults = defaultsOf(db, name);
    let n = 0;
    for (const row of rows) {
      n++;
      const parsed = shapes[name].safeParse({ ...defaults, ...row });
      if (!parsed.success) throw invalidRow(name, n, parsed.error);
      const { sha256, ...others }: BookkeepingRow = parsed.data;
      const isRevision = name === "revision" && typeof sha256 === "string";
      const values = isRevision ? { ...others, content_id: contentIdOf(sha256) } : parsed.data;
      try {
        insert.run(values);
      } catch (error) {
        throw isConstraintError(error)
          ? new BookkeepingRowError(`row ${n} of _${name} is not valid: ${error.message}`, { cause: error })
          : error;
      }
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
  return { putRows, putBody, bodies: contentIds.keys() };
}

/** The rows of a backup do not form a mirror. */
export class BookkeepingRowError extends Error {
  override readonly name = "BookkeepingRowError";
}

/** Without the value, which may be private. */
function invalidRow(name: BookkeepingTable, n: number, { issues: [issue] }: z.ZodError): BookkeepingRowError {
  const columns = issue?.code === "unrecognized_keys" ? issue.keys : (issue?.path ?? []);
  const column = columns.length === 0 ? "" : ` (${JSON.stringify(String(columns[0]).slice(0, 80))})`;
  return new BookkeepingRowError(`row ${n} of _${name} is not one of a mirror${column}`);
}

/** Raw, since the table is given by name. */
function prepareInsert(db: Connection, name: BookkeepingTable) {
  const columns = readColumns(db, name).map((column) => column.name);
  const values = columns.map((column) => {
    if (column === "sha256") return "unhex(:sha256)";
    return timeColumns.has(column) ? millisOf(`:${column}`) : `:${column}`;
  });
  return db.prepare<[BookkeepingRow]>(
    `insert into _${name} (${columns.join(", ")}) values (${values.join(", ")})`,
  );
}

/** The values of columns that the version which wrote the backup did not have. */
function defaultsOf(db: Connection, name: BookkeepingTable): BookkeepingRow {
  const evaluate = (defaultSql: string | null) =>
    defaultSql === null
      ? null
      : (db.prepare<[], BookkeepingCell>(`select ${defaultSql}`).pluck().get() ?? null);
  // Without a default only columns that may be null can be missing; the others are null then, which is refused.
  return Object.fromEntries(
    readColumns(db, name)
      .filter((column) => column.name !== "content_id" && column.name !== "sha256")
      .map((column) => [column.name, evaluate(column.defaultSql)]),
  );
}

function readColumns(db: Connection, name: BookkeepingTable) {
  const select = `select name, dflt_value as defaultSql from pragma_table_info('_${name}') order by cid`;
  return db.prepare<[], { name: string; defaultSql: string | null }>(select).all();
}

function isConstraintError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_CONSTRAINT");
}
