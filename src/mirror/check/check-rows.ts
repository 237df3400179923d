/** Whether everything that is derived from bodies is what those bodies give anew. */
import { entities, listTables } from "../../../schema/entities.ts";
import type { Kinds } from "../../../schema/kind.ts";
import { eachCurrentRevision } from "../bodies/read-revisions.ts";
import { prepareDerivations } from "../derive/derivations.ts";
import { type Derived, deriveContextOf, deriveHeldOrThrow } from "../derive/derive.ts";
import { notedUrlOf } from "../derive/links.ts";
import { prepareResources } from "../derive/resources.ts";
import { referenceIds } from "../derive/write-derived.ts";
import type { Connection } from "../file/connection.ts";
import type { MirrorReader } from "../reader.ts";
import { fromStored } from "../rows/cells.ts";
import { prepareTypedRows } from "../rows/typed-rows.ts";
import { checkPast } from "./check-history.ts";
import type { CheckProblem, ReportProblem } from "./check-problem.ts";

const complaints: Partial<Record<CheckProblem["code"], string>> = {
  row: "its rows are not what its body gives",
  link: "its links are not what its body gives",
  member: "its items are not what its body gives",
  page: "its next page or total is not what its body gives",
};

/** @returns how many resources have a body */
export function checkDerived(mirror: MirrorReader, kinds: Kinds, report: ReportProblem): number {
  const { db, identity } = mirror;
  const typedRows = prepareTypedRows(db);
  const resources = prepareResources(db, kinds, identity.area);
  const context = deriveContextOf(identity, kinds);
  const stored = prepareStored(db);
  const readingsOf = prepareDerivations(db);
  let count = 0;
  for (const revision of eachCurrentRevision(db)) {
    count++;
    const { readBody } = revision;
    // What was gone before it was read as what it became is still what it was read as.
    const lastRead = revision.resource.state === "gone" ? readingsOf(revision).at(-1) : undefined;
    const resource = { ...revision.resource, ...(lastRead && { kind: lastRead.kind }) };
    // It is fetched anew, and its kind may have become another one since its body came.
    if (resource.state === "due" || resource.state === "failed") continue;
    let derived: Derived;
    try {
      derived = deriveHeldOrThrow(readBody(), resource, context);
    } catch (error) {
      report({ code: "body", where: resource.url, what: String(error) });
      continue;
    }
    const urlOfLink = new Map(derived.links.map(({ name, url }) => [name, url]));
    const idOfLink = (name: string) => resources.find(urlOfLink.get(name) ?? "")?.id ?? null;
    const expectedRows = derived.projection
      ? typedRows.expected(resource.id, derived.projection, referenceIds(resource, idOfLink, resources))
      : [];
    const compare = (code: CheckProblem["code"], held: unknown, expected: unknown) => {
      if (toComparable(held) !== toComparable(expected))
        report({ code, where: resource.url, what: complaints[code] ?? "" });
    };
    compare("row", typedRows.read(resource.id), expectedRows);
    compare("link", stored.links(resource.id), sortedLinks(derived));
    compare(
      "member",
      stored.members(resource.id),
      (derived.items ?? []).map(({ url, name }) => [url, name]),
    );
    const page = stored.page(resource.id);
    const isCut = page?.next === null && page.isReported === 1;
    // What was a list before, and is none any more, leads nowhere.
    const noPage = page && [null, null];
    compare(
      "page",
      page && [isCut ? derived.nextUrl : page.next, page.total],
      derived.items === null ? noPage : [derived.nextUrl, derived.collectionTotal],
    );
  }
  checkStrays(db, report);
  checkPast(db, resources, context, report);
  return count;
}

function prepareStored(db: Connection) {
  const links = db
    .prepare<[number], [string, string, string | null]>(
      `select l.name, l.kind, coalesce(r.url, ${notedUrlOf("l", "source")}) from _link l
       join _resource source on source.id = l.from_id left join _resource r on r.id = l.to_id
       where l.from_id = ? order by l.name`,
    )
    .raw();
  const members = db
    .prepare<[number], [string | null, unknown]>(
      "select r.url, m.name from _member m left join _resource r on r.id = m.item_id where m.page_id = ? order by m.n",
    )
    .raw();
  const page = db.prepare<[number], { next: string | null; total: number | null; isReported: number }>(
    `select n.url as next, p.total,
       exists (select 1 from _issue where resource_id = p.id and code = 'page-loop') as isReported
     from _page p left join _resource n on n.id = p.next_id
     where p.id = ? and exists (select 1 from _revision where resource_id = p.id)`,
  );
  return {
    links: (id: number) => links.all(id),
    members: (id: number) => members.all(id).map(([url, name]) => [url, fromStored(name)]),
    page: (id: number) => page.get(id),
  };
}

/** Nothing is derived for what has no body. */
function checkStrays(db: Connection, report: ReportProblem): void {
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
    for (const where of strays.iterate()) report({ code, where, what: `has rows in ${table} but no body` });
  }
}

function sortedLinks(derived: Derived): (string | null)[][] {
  return derived.links
    .map(({ name, kind, url }) => [name, kind, url])
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a ?? ""), Buffer.from(b ?? "")));
}

const toComparable = (value: unknown): string | undefined =>
  JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? `${part}n` : part));
