/**
 * The content of a mirror in a canonical form: mirrors with the same state give the same text. Keyed by URL, without ids,
 * times, runs, ETags and anomalies.
 */
import { entities, listTables } from "../../schema/entities.ts";
import { unfollowedUrlOf } from "../../src/mirror/derive/links.ts";
import type { MirrorReader } from "../../src/mirror/reader.ts";
import { fromStored } from "../../src/mirror/rows/cells.ts";

export type CanonicalDump = Readonly<Record<string, CanonicalResource>>;

export interface CanonicalResource {
  readonly kind: string;
  readonly state: string;
  /** In hex; null when no revision is current. */
  readonly sha256: string | null;
  /** Table to rows, each a list of cells; references are URLs, and whole numbers end in `n`. */
  readonly rows: Readonly<Record<string, readonly (readonly CanonicalCell[])[]>>;
  /** Link name to kind and URL, which is null for a link that may not be followed. */
  readonly links: Readonly<Record<string, readonly [kind: string, url: string | null]>>;
  readonly members: readonly (readonly [url: string | null, name: CanonicalCell])[];
  /** The page after this one. */
  readonly next: string | null;
}

type CanonicalCell = string | number | null;

export function canonicalDump({ db }: Pick<MirrorReader, "db">): CanonicalDump {
  const rowsOf = (select: string): CanonicalCell[][] =>
    (db.prepare(select).safeIntegers().raw().all() as unknown[][]).map((row) => row.map(toCell));
  const byUrl = (select: string) => Map.groupBy(rowsOf(select), ([url]) => url);

  const tables = [
    ...entities.map(({ table, references }) => {
      const urls = references.map((name) => `(select url from _resource where id = t.${name}_id)`);
      return { table, select: selectTyped(table, "id", urls, [...references.map((name) => `${name}_id`)]) };
    }),
    ...listTables.map(({ table }) => ({ table, select: selectTyped(table, "parent_id", [], []) })),
  ].map(({ table, select }) => ({ table, rows: byUrl(select(columnsOf(table))) }));
  const links = byUrl(
    `select s.url, l.name, l.kind, coalesce(r.url, ${unfollowedUrlOf("l", "s")}) from _link l
     join _resource s on s.id = l.from_id left join _resource r on r.id = l.to_id order by l.name`,
  );
  const members = byUrl(
    `select p.url, r.url, m.name from _member m
     join _resource p on p.id = m.page_id left join _resource r on r.id = m.item_id order by m.page_id, m.n`,
  );
  const resources = rowsOf(
    `select r.url, r.kind, r.state, lower(hex(c.sha256)), n.url from _resource r
     left join _revision v on v.resource_id = r.id and v.to_run is null left join _content c on c.id = v.content_id
     left join _page p on p.id = r.id left join _resource n on n.id = p.next_id order by r.url`,
  );

  return Object.fromEntries(
    resources.map(([url = null, kind, state, sha256, next]) => [
      String(url),
      {
        kind: String(kind),
        state: String(state),
        sha256: sha256 === "" ? null : String(sha256),
        rows: Object.fromEntries(
          tables
            .filter(({ rows }) => rows.has(url))
            .map(({ table, rows }) => [table, (rows.get(url) ?? []).map(([, ...cells]) => cells)]),
        ),
        links: Object.fromEntries(
          (links.get(url) ?? []).map(([, name, linkKind, to]) => [
            String(name),
            [String(linkKind), to === null ? null : String(to)],
          ]),
        ),
        members: (members.get(url) ?? []).map(([, item, name = null]) => [
          item === null ? null : String(item),
          name,
        ]),
        next: next === null ? null : String(next),
      },
    ]),
  );

  function columnsOf(table: string): string[] {
    return db
      .prepare<[], string>(`select name from pragma_table_info('_${table}') where name <> 'from_run'`)
      .pluck()
      .all();
  }
}

/** The owner's URL, the URLs that stand for ids, and every other column. */
function selectTyped(table: string, key: string, urls: readonly string[], idColumns: readonly string[]) {
  return (columns: readonly string[]): string => {
    const plain = columns.filter((column) => column !== key && !idColumns.includes(column));
    const order = key === "id" ? "t.id" : "t.parent_id, t.n";
    return `select ${["r.url", ...urls, ...plain.map((column) => `t.${column}`)].join(", ")}
      from _${table} t join _resource r on r.id = t.${key} order by ${order}`;
  };
}

function toCell(value: unknown): CanonicalCell {
  const cell = fromStored(value);
  return typeof cell === "bigint" ? `${cell}n` : cell;
}
