/**
 * Checks the rows of the past against the bodies of their time. The owner of a resource and the target of a link may have
 * been discovered after the body arrived; then the rows keep the earlier values, which are not compared.
 */
import { entities } from "../../../schema/entities.ts";
import { eachRevisionOf } from "../bodies/read-revisions.ts";
import { type DeriveContext, type Derived, deriveHeldOrThrow } from "../derive/derive.ts";
import { unfollowedUrlOf } from "../derive/links.ts";
import type { Resources } from "../derive/resources.ts";
import { referenceIds } from "../derive/write-derived.ts";
import type { Connection } from "../file/connection.ts";
import { fromStored } from "../rows/cells.ts";
import { prepareTypedRows } from "../rows/typed-rows.ts";
import { linkTable, memberTable, storedColumns, versionedTables } from "../rows/versioned-rows.ts";
import { type ReportProblem, toComparable, toComparableUrl } from "./check-problem.ts";

export function checkPast(
  db: Connection,
  resources: Resources,
  context: DeriveContext,
  report: ReportProblem,
): void {
  const typedRows = prepareTypedRows(db);
  const readPastRows = preparePastRows(db);
  checkTimes(db, report);
  const idsWithPast = versionedTables
    .map(({ name, key }) => `select ${key} from ${name}_past`)
    .join(" union ");
  for (const { resource, seq, readBody } of eachRevisionOf(db, idsWithPast)) {
    let derived: Derived;
    try {
      derived = deriveHeldOrThrow(readBody(), resource, context);
    } catch {
      // The check of bodies reports it.
      continue;
    }
    const urlOfLink = new Map(derived.links.map(({ name, url }) => [name, url]));
    const idOfLink = (name: string) => resources.find(urlOfLink.get(name) ?? "")?.id ?? null;
    const typed = derived.projection
      ? typedRows.expected(resource.id, derived.projection, referenceIds(resource, idOfLink, resources))
      : [];
    const expected = new Set([
      ...typed.flatMap(({ table, rows }) =>
        rows.map((row) => toComparable([table, withoutOwner(table, row.map(fromStored))])),
      ),
      ...derived.links.map(({ name, url }) => toComparable([linkTable.name, [name, toComparableUrl(url)]])),
      ...(derived.items ?? []).map(({ url, name }, n) =>
        toComparable([memberTable.name, [BigInt(n), toComparableUrl(url), name]]),
      ),
    ]);
    for (const { table, row } of readPastRows(resource.id, seq)) {
      if (expected.has(toComparable([table, withoutOwner(table, row)]))) continue;
      report({
        code: "row",
        where: resource.url,
        message: `a row in ${table}_past does not match the body of its time`,
      });
    }
  }
}

/** Raw SQL: the same query for several tables, by name. */
function checkTimes(db: Connection, report: ReportProblem): void {
  for (const { name, key } of versionedTables) {
    const selectMisdated = db.prepare<[], string>(
      `select distinct r.url from ${name}_past t join _resource r on r.id = t.${key} where t.from_run >= t.to_run
         or not exists (select 1 from _revision where resource_id = t.${key} and from_run <= t.from_run)`,
    );
    for (const where of selectMisdated.pluck().iterate())
      report({ code: "row", where, message: `a row in ${name}_past is from a time without a body` });
  }
}

/** Reads the rows of the past that belong to a revision, with URLs for links and items. Raw SQL: tables by name. */
function preparePastRows(db: Connection) {
  const isOfRevision = (key: string) =>
    `t.${key} = :id and :seq = (select max(seq) from _revision where resource_id = t.${key} and from_run <= t.from_run)`;
  const selects: Readonly<Record<string, string>> = {
    [linkTable.name]: `select t.name, coalesce(r.url, ${unfollowedUrlOf("t", "source")}) from _link_past t
      join _resource source on source.id = t.from_id left join _resource r on r.id = t.to_id`,
    [memberTable.name]: `select t.n, r.url, t.name from _member_past t left join _resource r on r.id = t.item_id`,
  };
  const statements = versionedTables.map((table) => {
    const select =
      selects[table.name] ?? `select ${storedColumns(table).join(", ")} from ${table.name}_past t`;
    const statement = db
      .prepare(`${select} where ${isOfRevision(table.key)}`)
      .raw()
      .safeIntegers();
    return { table: table.name, statement };
  });
  return (id: number, seq: number) =>
    statements.flatMap(({ table, statement }) =>
      statement
        .all({ id, seq })
        .map((row) => ({ table, row: withUrl(table, (row as unknown[]).map(fromStored)) })),
    );
}

/** Links and items have their address in the second column. */
function withUrl(table: string, row: readonly unknown[]): readonly unknown[] {
  const url = row[1];
  const hasUrl = table === linkTable.name || table === memberTable.name;
  return hasUrl && typeof url === "string" ? row.with(1, toComparableUrl(url)) : row;
}

/** Table name to the position of the column with the owner. */
const ownerColumns: ReadonlyMap<string, number> = new Map(
  entities.flatMap(({ table, references, owner }) =>
    owner === null ? [] : [[`_${table}`, 1 + references.indexOf(owner)] as const],
  ),
);

function withoutOwner(table: string, row: readonly unknown[]): readonly unknown[] {
  const column = ownerColumns.get(table);
  return column === undefined ? row : row.with(column, null);
}
