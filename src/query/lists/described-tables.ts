/** The public tables of an open mirror: what they and their columns mean, and how many rows they have. */
import {
  describeTable,
  publicTableNames,
  type TableDescription,
} from "../../../schema/dictionary/describe-table.ts";
import { tablesOfArea } from "../../mirror/public-tables.ts";
import type { MirrorReader } from "../../mirror/reader.ts";

/** Without tables that no mirror of this area has rows of. */
export function listDescribedTables(mirror: MirrorReader): TableDescription[] {
  const other = tablesOfArea[mirror.identity.area === "account" ? "catalogue" : "account"];
  return publicTableNames().flatMap((name) => {
    const table = readDescribedTable(mirror, name);
    return table === null || table.columns.length === 0 || other.includes(name.replace(/_current$/, ""))
      ? []
      : [table];
  });
}

/** Null for a name that is no public table. */
export const readDescribedTable = ({ db }: MirrorReader, name: string): TableDescription | null =>
  describeTable(
    name,
    // Raw, since the table is given by name.
    db.prepare<[string], string>("select name from pragma_table_info(?) order by cid").pluck().all(name),
  );

export interface CountedTable extends TableDescription {
  /** Null for a table that is computed from others: counting its rows may take long. */
  readonly rows: number | null;
}

export const listCountedTables = (mirror: MirrorReader): CountedTable[] =>
  listDescribedTables(mirror).map((table) => ({ ...table, rows: countRows(mirror, table) }));

function countRows({ db, identity }: MirrorReader, { table }: TableDescription): number | null {
  const isStored = tablesOfArea[identity.area].includes(table.replace(/_current$/, ""));
  // Raw, since the table is given by name.
  return isStored ? (db.prepare<[], number>(`select count(*) from ${table}`).pluck().get() ?? null) : null;
}
