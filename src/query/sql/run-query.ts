/**
 * Runs the user's own SQL on a mirror, in a process of its own. Whatever the statement is, it cannot change a file, open
 * another one, or go beyond its limits of time, memory and output. This file knows nothing of the tables' columns.
 */
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Row } from "../../../exports/formats/table.ts";
import type { Area } from "../../../schema/kind.ts";
import { MirrorError } from "../../mirror/file/errors.ts";
import { prepare } from "../../mirror/file/statements.ts";
import { readShownViews } from "../../mirror/past/as-of.ts";
import type { Point } from "../../mirror/points/point.ts";
import { countPruned } from "../../mirror/points/pruned-runs.ts";
import { tablesOfArea } from "../../mirror/public-tables.ts";
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { type Coverage, publicTablesFrom, readCoverage } from "../../mirror/runs/coverage.ts";
import { requireNumbersFrom } from "../../platform/errors.ts";
import { q } from "../views.ts";
import { QueryError } from "./errors.ts";
import { type QueryLimits, resolveLimits } from "./limits.ts";
import {
  type QueryMessage,
  type QueryParameters,
  type QueryProcess,
  type QueryResponse,
  startQueryProcess,
} from "./query-process.ts";

export interface QueryRequest extends QueryOptions {
  /** The path of a mirror, or of any other SQLite file. */
  readonly file: string;
  /** One statement that returns rows and changes nothing. */
  readonly sql: string;
  /** Default: none. */
  readonly parameters?: QueryParameters;
}

export interface QueryOptions extends Partial<QueryLimits> {
  /** Shows every table and view as of this point. Only for mirrors. */
  readonly asOf?: Point;
  /** Default: unlimited. */
  readonly maxRows?: number;
  /** How long the rows beyond `maxRows` are counted, in milliseconds. Default: 0. */
  readonly countMillis?: number;
  /** The file of another mirror, readable as `catalogue.brand` and so on, in its present state. */
  readonly catalogue?: string;
  /** Kills the query's process; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** The answer to a statement. Its rows are read while they are iterated. */
export interface QueryResult {
  /** The names of the statement's columns; a name may be repeated. */
  readonly columns: readonly string[];
  /** The rows in batches. Iterate either these or `rows`, once. */
  readonly batches: AsyncIterable<readonly Row[]>;
  /**
   * At most one batch is read ahead. The process ends with the iteration, or at the deadline. Text is as stored; blobs are
   * `x'…'` (see `readCell`).
   * @throws QueryError, or the signal's reason
   */
  readonly rows: AsyncIterable<Row>;
  /** The public tables that the statement reads. */
  readonly tables: QueryTables;
  /** Of these tables. It is read with its first use, which takes a while on a large mirror that a sync writes. */
  readonly coverage: QueryCoverage;
  /** Tables that it reads and that no mirror of this area has rows of. */
  readonly emptyTables: EmptyTables;
  /** Whether it reads `relation`, which has no rows because no sync followed the links that lead to them. */
  readonly lacksRelations: boolean;
  /** The number of pruned runs, if the statement reads `recently_changed`, which lacks what only they show; else 0. */
  readonly prunedRuns: number;
  /** At most this many rows. */
  readonly maxRows: number;
  /** Whether there were more rows than `maxRows`; known after the iteration. */
  readonly isCut: boolean;
  /** The number of all rows, if there were more than `maxRows` and they were counted in time; else null. */
  readonly total: number | null;
}

export interface EmptyTables {
  /** Of the mirror; null if the file is none. */
  readonly area: Area | null;
  readonly names: readonly string[];
}

/** What to say if `lacksRelations`. */
export const followHint =
  "The table relation is empty: no sync followed such links. `armoire sync --follow related --follow same_cut` fetches them.";

/** By name. `all` where rows of all kinds are read. */
export type TablesRead = readonly string[] | "all";

export interface QueryTables {
  readonly mirror: TablesRead;
  /** Of the attached catalogue. */
  readonly catalogue: TablesRead;
}

/** How whole the tables are that a statement reads; null for a mirror of which it reads none. */
export interface QueryCoverage {
  readonly mirror: Coverage | null;
  /** Of the attached catalogue. */
  readonly catalogue: Coverage | null;
}

/**
 * Executes one statement that reads, with limits, in a process of its own, which lives until the iteration of its rows ends.
 * @param startProcess starts the process of the query
 * @throws RangeError for a limit that is no number; QueryError, or the signal's reason; with `asOf` also MirrorError, PointError
 */
export async function runQuery(
  request: QueryRequest,
  startProcess = startQueryProcess,
): Promise<QueryResult> {
  const { file, asOf } = request;
  return await runQueryOverViews(request, () => (asOf ? viewsAsOf(file, asOf) : []), startProcess);
}

/** As `runQuery`, over other views than the file's. @param readShown reads the statements that make them */
export async function runQueryOverViews(
  request: QueryRequest,
  readShown: () => readonly string[],
  startProcess: typeof startQueryProcess,
): Promise<QueryResult> {
  const { file, sql, parameters = [], maxRows = Number.POSITIVE_INFINITY, signal } = request;
  signal?.throwIfAborted();
  requireNumbersFrom(0, { maxRows });
  const limits = resolveLimits(request);
  if (Buffer.byteLength(sql) > limits.maxSqlBytes) {
    const message = `The statement is longer than ${limits.maxSqlBytes} bytes, the most that is allowed.`;
    throw new QueryError(
      "too-long",
      message,
      "Give long lists as one parameter, and read it with json_each().",
    );
  }
  const shownViews = readShown();
  const child = startProcess(limits, signal);
  const start = {
    type: "start",
    file: resolve(file),
    catalogue: request.catalogue === undefined ? null : resolve(request.catalogue),
    shownViews,
    sql,
    parameters,
    maxRows,
    limits,
  } as const;
  const first = await requestOrStop(child, start);
  const { columns, tablesRead } =
    first.type === "columns" ? first : { columns: [], tablesRead: { main: [], catalogue: [] } };
  let isCut = false;
  let total: number | null = null;
  async function* readBatches(): AsyncGenerator<readonly Row[]> {
    try {
      for (;;) {
        const response = await requestOrStop(child, { type: "next" });
        if (response.type === "rows") yield response.rows;
        else if (response.type === "end") {
          isCut = response.isCut;
          if (isCut) total = await countWithin(child, request.countMillis ?? 0);
          signal?.throwIfAborted();
          return;
        }
      }
    } finally {
      await child.stop();
    }
  }
  async function* readRows(): AsyncGenerator<Row> {
    for await (const batch of batches) yield* batch;
  }
  const batches = readBatches();
  const tables = {
    mirror: publicTablesRead(sql, tablesRead.main),
    catalogue: publicTablesRead(sql, tablesRead.catalogue),
  };
  let coverage: QueryCoverage | null = null;
  return {
    columns,
    tables,
    get coverage() {
      coverage ??= {
        mirror: coverageOfRead(file, tables.mirror, request.asOf),
        catalogue: coverageOfRead(request.catalogue, tables.catalogue),
      };
      return coverage;
    },
    emptyTables: emptyTablesOf(file, tablesRead.main),
    lacksRelations: lacksRelations(request),
    prunedRuns: prunedRunsOf(request),
    batches,
    rows: readRows(),
    maxRows,
    get isCut() {
      return isCut;
    },
    get total() {
      return total;
    },
  };
}

function coverageOfRead(file: string | undefined, tables: TablesRead, asOf?: Point): Coverage | null {
  if (file === undefined || tables.length === 0) return null;
  return readIfMirror(
    file,
    (mirror) => (tables === "all" ? readCoverage(mirror) : readCoverage(mirror, tables)),
    asOf,
  );
}

/** @param tables as stored, such as `_brand` and `_brand_past` */
function publicTablesRead(sql: string, tables: readonly string[]): TablesRead {
  const ofAll = tablesOfAllKinds(sql, tables);
  return ofAll === "all" ? "all" : [...publicTablesFrom(tables), ...ofAll];
}

/**
 * The views `known` and `recently_changed` have rows of all kinds, unless each mention of them selects one kind. What they
 * are stored in, others read too, so the statement has to name them as well.
 */
function tablesOfAllKinds(sql: string, tables: readonly string[]): TablesRead {
  const known = tables.includes("_run") ? [...sql.matchAll(/\bknown\b/gi)] : [];
  const changed = tables.includes("_revision") ? [...sql.matchAll(/\brecently_changed\b/gi)] : [];
  if (known.length + changed.length === 0) return [];
  const selected = [...sql.matchAll(/\bkind\s*=\s*'(\w+)'/gi)].map(([, kind = ""]) => kind);
  return selected.length < known.length + changed.length
    ? "all"
    : selected.map((kind) => (kind === "me" ? "user" : kind));
}

/** @param tables as stored */
function emptyTablesOf(file: string, tables: readonly string[]): EmptyTables {
  const names = publicTablesFrom(tables);
  const area = names.length === 0 ? null : readIfMirror(file, ({ identity }) => identity.area);
  const ofOther = area === null ? [] : tablesOfArea[area === "account" ? "catalogue" : "account"];
  return { area, names: names.filter((name) => ofOther.includes(name)) };
}

function lacksRelations({ file, sql, asOf }: QueryRequest): boolean {
  if (!/\brelation\b/i.test(sql)) return false;
  const isEmpty = ({ db, identity }: MirrorReader) =>
    identity.area === "catalogue" &&
    prepare(db, () => q.selectFrom("relation").select("href").limit(1)).all().length === 0;
  return readIfMirror(file, isEmpty, asOf) ?? false;
}

/** 0 unless the statement is about revisions, of which pruning removes some. */
function prunedRunsOf({ file, sql, asOf }: QueryRequest): number {
  if (!/\brecently_changed\b/i.test(sql)) return 0;
  const count = ({ db, asOf: shown }: MirrorReader) =>
    countPruned(db, { after: 0, ...(shown && { before: shown.run }) });
  return readIfMirror(file, count, asOf) ?? 0;
}

/** Null for any other SQLite file, which can be queried too. */
function readIfMirror<Result>(
  file: string,
  read: (mirror: MirrorReader) => Result,
  asOf?: Point,
): Result | null {
  try {
    return readMirror(file, read, asOf);
  } catch (error) {
    if (error instanceof MirrorError) return null;
    throw error;
  }
}

const viewsAsOf = (file: string, point: Point): readonly string[] =>
  readMirror(file, ({ db }) => readShownViews(db), point);

/** @returns null if it takes longer, or fails */
async function countWithin(child: QueryProcess, millis: number): Promise<number | null> {
  if (millis === 0) return null;
  const timeout = new AbortController();
  const { signal } = timeout;
  try {
    const counted = child.request({ type: "next" }).catch(() => null);
    const response = await Promise.race([counted, setTimeout(millis, null, { signal }).catch(() => null)]);
    return response?.type === "total" ? response.rows : null;
  } finally {
    timeout.abort();
  }
}

async function requestOrStop(child: QueryProcess, message: QueryMessage): Promise<QueryResponse> {
  try {
    const response = await child.request(message);
    if (response.type === "error") throw new QueryError(response.code, response.message, response.hint);
    return response;
  } catch (error) {
    await child.stop();
    throw error;
  }
}
