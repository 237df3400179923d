/** What an export says about the mirror it is of: its state, how whole it is, and the references that hold. */
import { publicTables as publicTableMeanings } from "../schema/dictionary/public-tables.ts";
import { prepare, prepareColumn } from "../src/mirror/file/statements.ts";
import type { PublicTable, TableSelection } from "../src/mirror/public-tables.ts";
import { q } from "../src/mirror/queries/query-builder.ts";
import type { MirrorReader } from "../src/mirror/reader.ts";
import { type Coverage, readCoverage, readCoverageOfBrands } from "../src/mirror/runs/coverage.ts";
import type { ExportedState } from "./package/descriptor.ts";
import type { Reference } from "./package/table-schema.ts";
import { envelopeTable } from "./selection.ts";

/**
 * The state that an export is of, and how whole it is: the same for every format.
 * @param tables the exported tables; all if empty
 */
export function describeExported(
  mirror: MirrorReader,
  tables: readonly string[],
  { brandHrefs, changedAfterRun, columns }: TableSelection,
  where: string | undefined,
): { readonly state: ExportedState; readonly coverage: Coverage } {
  const run = lastChangingRun(mirror);
  const counted = tables.length === 0 || tables.includes(envelopeTable) ? undefined : tables;
  // Of the past, only the counts of whole tables are stored.
  const coverage =
    brandHrefs && mirror.asOf === null
      ? readCoverageOfBrands(mirror, brandHrefs, counted)
      : readCoverage(mirror, counted);
  return {
    state: {
      baseUrl: mirror.identity.baseUrl,
      run,
      endedAt: run === null ? null : readEnd(mirror, run),
      ...(mirror.asOf && { asOf: mirror.asOf.run }),
      ...(brandHrefs && { brands: [...brandHrefs] }),
      ...(changedAfterRun !== undefined && { changedAfterRun }),
      ...(where !== undefined && { where }),
      ...(columns && { columns: [...columns] }),
    },
    coverage,
  };
}

function readEnd({ db }: MirrorReader, run: number): string | null {
  const select = prepareColumn(db, (p: { run: number }) =>
    q.selectFrom("_run").select("ended_at").where("id", "=", p.run),
  );
  return select.get({ run }) ?? null;
}

/** The last run that changed anything. Later runs leave the same state, so the export must have the same data files. */
function lastChangingRun({ db }: MirrorReader): number | null {
  const lastRun = prepareColumn(db, () =>
    q.selectFrom("_run").select(({ fn }) => fn.max<number | null>("id").as("run")),
  ).get();
  if (typeof lastRun !== "number") return null;
  // No index has the runs of revisions. Most often the last run has one, which is found soon.
  const hasChanged = prepareColumn(db, (p: { run: number }) =>
    q
      .selectFrom("_revision")
      .select("seq")
      .where(({ eb, or }) => or([eb("from_run", "=", p.run), eb("to_run", "=", p.run)]))
      .limit(1),
  ).get({ run: lastRun });
  if (hasChanged !== undefined) return lastRun;
  const last = prepare(db, () =>
    q
      .selectFrom("_revision")
      .select(({ fn }) => [
        fn.max<number | null>("from_run").as("opening"),
        fn.max<number | null>("to_run").as("end"),
      ]),
  ).get();
  return last == null || last.opening === null ? null : Math.max(last.opening, last.end ?? 0);
}

/**
 * The references between the exported tables that hold for every row. In a mirror that is not complete, a model may refer to a
 * brand that is not fetched yet. Raw SQL: tables by name.
 */
export function findReferences({ db }: MirrorReader, tables: readonly PublicTable[]): Reference[] {
  const has = (name: string, column: string) =>
    tables.some((table) => table.name === name && table.columns.includes(column));
  return tables.flatMap(({ name: table }) =>
    Object.entries(publicTableMeanings[table]?.references ?? {})
      .filter(([column, to]) => has(table, column) && has(to, "href"))
      .map(([column, to]) => ({ table, column, to }))
      .filter(({ column, to }) => {
        const ids = referredIds[`${table}.${column}`];
        const dangling =
          ids === undefined
            ? `select 1 from ${table} where ${column} is not null and ${column} not in (select href from ${to}) limit 1`
            : `select 1 from (${ids}) where id is not null and id not in (select +id from _${to}) limit 1`;
        return db.prepare(dangling).get() === undefined;
      }),
  );
}

/**
 * For large tables: comparing ids takes a tenth of the time of comparing URLs. With `+id`, SQLite reads the other ids once, from
 * the smallest index, instead of looking up each one in the whole table.
 */
const referredIds: Readonly<Record<string, string>> = {
  "model.brand_href": "select brand_id as id from _model",
  "model_picture.model_href": "select parent_id as id from _model_picture",
  "size.model_href": "select model_id as id from _size",
  "size.brand_href": "select distinct m.brand_id as id from _size s join _model m on m.id = s.model_id",
};
