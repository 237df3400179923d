/** Checks everything that is derived from bodies: typed rows, links, list items and pages. */
import { type SqlBool, sql } from "kysely";
import { entities, listTables } from "../../../schema/entities.ts";
import type { Kinds } from "../../../schema/kind.ts";
import { eachCurrentRevision } from "../bodies/read-revisions.ts";
import { prepareDerivations } from "../derive/derivations.ts";
import { type Derived, deriveContextOf, deriveHeldOrThrow } from "../derive/derive.ts";
import { unfollowedUrlOf } from "../derive/links.ts";
import { prepareResources } from "../derive/resources.ts";
import { referenceIds } from "../derive/write-derived.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import { fromStored } from "../rows/cells.ts";
import { prepareTypedRows } from "../rows/typed-rows.ts";
import { checkPast } from "./check-history.ts";
import { type CheckProblem, type ReportProblem, toComparable, toComparableUrl } from "./check-problem.ts";

const descriptions: Partial<Record<CheckProblem["code"], string>> = {
  row: "its rows do not match its body",
  link: "its links do not match its body",
  member: "its items do not match its body",
  page: "its next page or totals do not match its body",
};

/** @returns the number of resources with a body */
export function checkDerived(mirror: MirrorReader, kinds: Kinds, report: ReportProblem): number {
  const { db, identity } = mirror;
  const typedRows = prepareTypedRows(db);
  const resources = prepareResources(db, kinds, identity.area);
  const context = deriveContextOf(identity, kinds);
  const stored = prepareStored(db);
  const derivationsOf = prepareDerivations(db);
  let count = 0;
  for (const revision of eachCurrentRevision(db)) {
    count++;
    const { readBody } = revision;
    // The kind of a tombstone may have changed after its body was derived: its rows are those of the kind at that time.
    const lastDerivation = revision.resource.state === "gone" ? derivationsOf(revision).at(-1) : undefined;
    const resource = { ...revision.resource, ...(lastDerivation && { kind: lastDerivation.kind }) };
    // The kind of a due resource may have changed since its body arrived; it is fetched again.
    if (resource.state === "due" || resource.state === "failed") continue;
    let derived: Derived;
    try {
      derived = deriveHeldOrThrow(readBody(), resource, context);
    } catch (error) {
      report({ code: "body", where: resource.url, message: String(error) });
      continue;
    }
    const urlOfLink = new Map(derived.links.map(({ name, url }) => [name, url]));
    const idOfLink = (name: string) => resources.find(urlOfLink.get(name) ?? "")?.id ?? null;
    const expectedRows = derived.projection
      ? typedRows.expected(resource.id, derived.projection, referenceIds(resource, idOfLink, resources))
      : [];
    const compare = (code: CheckProblem["code"], held: unknown, expected: unknown) => {
      if (toComparable(held) !== toComparable(expected))
        report({ code, where: resource.url, message: descriptions[code] ?? "" });
    };
    compare("row", typedRows.read(resource.id), expectedRows);
    compare("link", stored.links(resource.id), sortedLinks(derived));
    compare(
      "member",
      stored.members(resource.id),
      (derived.items ?? []).map(({ url, name }) => [toComparableUrl(url), name]),
    );
    const page = stored.page(resource.id);
    // A loop is cut: its last page has no next page.
    const isCut = page?.next === null && page.hasLoop === 1;
    // A former page that is no list any more leads nowhere.
    const noPage = page && [null, null, null];
    compare(
      "page",
      page && [toComparableUrl(isCut ? derived.nextUrl : page.next), page.total, page.pageTotal],
      derived.items === null
        ? noPage
        : [toComparableUrl(derived.nextUrl), derived.collectionTotal, derived.pageTotal],
    );
  }
  checkStrayRows(db, report);
  checkPast(db, resources, context, report);
  return count;
}

function prepareStored(db: Connection) {
  const links = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as source", "source.id", "l.from_id")
      .leftJoin("_resource as r", "r.id", "l.to_id")
      .select(["l.name", "l.kind"])
      .select(sql<string | null>`coalesce(r.url, ${sql.raw(unfollowedUrlOf("l", "source"))})`.as("url"))
      .where("l.from_id", "=", p.id)
      .orderBy("l.name"),
  );
  const members = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_member as m")
      .leftJoin("_resource as r", "r.id", "m.item_id")
      .select(["r.url", "m.name"])
      .where("m.page_id", "=", p.id)
      .orderBy("m.n"),
  );
  const page = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_page as p")
      .leftJoin("_resource as n", "n.id", "p.next_id")
      .select(["n.url as next", "p.total", "p.page_total as pageTotal"])
      .select(
        sql<0 | 1>`exists (select 1 from _issue where resource_id = p.id and code = 'page-loop')`.as(
          "hasLoop",
        ),
      )
      .where("p.id", "=", p.id)
      .where(sql<SqlBool>`exists (select 1 from _revision where resource_id = p.id)`),
  );
  return {
    links: (id: number) => links.all({ id }).map(({ name, kind, url }) => [name, kind, toComparableUrl(url)]),
    members: (id: number) =>
      members.all({ id }).map(({ url, name }) => [toComparableUrl(url), fromStored(name)]),
    page: (id: number) => page.get({ id }),
  };
}

/** A resource without a body has no derived rows. Raw SQL: the same query for several tables, by name. */
function checkStrayRows(db: Connection, report: ReportProblem): void {
  const tables = [
    ...entities.map(({ table }) => ({ code: "row", table: `_${table}`, key: "id" }) as const),
    ...listTables.map(({ table }) => ({ code: "row", table: `_${table}`, key: "parent_id" }) as const),
    { code: "link", table: "_link", key: "from_id" } as const,
    { code: "member", table: "_member", key: "page_id" } as const,
  ];
  for (const { code, table, key } of tables) {
    const strays = db
      .prepare<[], string>(
        `select distinct r.url from ${table} t join _resource r on r.id = t.${key}
         where not exists (select 1 from _revision where resource_id = r.id)`,
      )
      .pluck();
    for (const where of strays.iterate())
      report({ code, where, message: `has rows in ${table} but no body` });
  }
}

/** In the order in which SQLite sorts names. */
function sortedLinks(derived: Derived): (string | null)[][] {
  return derived.links
    .map(({ name, kind, url }) => [name, kind, toComparableUrl(url)])
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a ?? ""), Buffer.from(b ?? "")));
}
