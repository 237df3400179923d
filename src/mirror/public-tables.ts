/** The public tables as rows for exports and comparisons: ordered by key, with exact values. */
import type { Cell } from "../../schema/fields.ts";
import type { Area } from "../../schema/kind.ts";
import { isoTimeOf } from "../../schema/tables.ts";
import { lastEtagSql } from "./absence/absences.ts";
import type { StoredBody } from "./bodies/compression.ts";
import { prepareReadBody } from "./bodies/read-body.ts";
import { prepare } from "./file/statements.ts";
import { rowsAt } from "./past/as-of.ts";
import { q } from "./queries/query-builder.ts";
import type { MirrorReader } from "./reader.ts";
import { fromStored } from "./rows/cells.ts";
import { entityTable } from "./rows/versioned-rows.ts";
import { hasLoaded } from "./snapshots/loaded.ts";

/** A table as analysts see it. Its rows are ordered by key. */
export interface PublicTable {
  readonly name: string;
  /** In the order of the cells of a row. */
  readonly columns: readonly string[];
  /** An SQL expression: the key of a row as one text. */
  readonly key: string;
  /** Reads them while they are iterated; each has one cell for each column. */
  rows(): Iterable<readonly Cell[]>;
  /** Takes less time than `rows`, which may sort all of them before the first. */
  isEmpty(): boolean;
}

export const tablesOfArea: Readonly<Record<Area, readonly string[]>> = {
  catalogue: ["brand", "model", "model_picture", "size", "relation"],
  account: ["user", "bra", "bra_size", "measurement", "measurement_value"],
};

/** Rows and columns to leave out. Default for each: none. */
export interface TableSelection {
  /** Only rows of these brands, by URL, and of their models and sizes. */
  readonly brandHrefs?: readonly string[];
  /** Only rows of resources that changed after this run; all rows of `relation` and `media`. */
  readonly changedAfterRun?: number;
  /** Only rows whose `key` is in the temporary table `chosenKeys`. */
  readonly hasChosenKeys?: boolean;
  /** With the table `envelope`. */
  readonly withEnvelopes?: boolean;
  /** Only these columns, in this order, and only tables that have one. */
  readonly columns?: readonly string[];
}

/** As `tablesAbout` needs it. */
interface RowSelection extends TableSelection {
  /** Only rows of resources whose URL is in the temporary table `_chosen_url`. */
  readonly hasChosenUrls?: boolean;
}

/** A temporary table of keys, with one column `key`, that the caller makes on the connection. */
export const chosenKeys = "_chosen_key";

/** All public tables of the mirror's area, and `media` if there are pictures. */
export function publicTables(mirror: MirrorReader, selection: TableSelection = {}): PublicTable[] {
  const names = tablesOfArea[mirror.identity.area];
  return [
    ...[...names, ...(hasPictures(mirror) ? ["media"] : [])].map((name) => tableOf(mirror, name, selection)),
    ...(selection.withEnvelopes ? [envelopeTable(mirror, selection)] : []),
  ].filter(({ columns }) => columns.length > 0);
}

/**
 * The tables of a catalogue with only the rows of some resources; without `relation`, which refers to others.
 * @param urls a SELECT of their URLs, executed once; there may be as many as resources
 * @param values of its parameters
 */
export function tablesAbout(mirror: MirrorReader, urls: string, ...values: readonly string[]): PublicTable[] {
  mirror.db.exec("create temp table _chosen_url (url text primary key) without rowid");
  mirror.db.prepare(`insert into temp._chosen_url ${urls}`).run(...values);
  return tablesOfArea.catalogue
    .filter((name) => name !== "relation")
    .map((name) => tableOf(mirror, name, { hasChosenUrls: true }));
}

/** Raw SQL in the conditions, since tables are given by name. The first column is the URL of the row's resource. */
const conditionOfBrand: Readonly<Record<string, (first: string) => string>> = {
  brand: (first) => `${first} in (select value from json_each(:brandHrefs))`,
  model: () => "brand_href in (select value from json_each(:brandHrefs))",
  size: () => "brand_href in (select value from json_each(:brandHrefs))",
  model_picture: (first) =>
    `${first} in (select href from model where brand_href in (select value from json_each(:brandHrefs)))`,
  relation: anyResourceOfBrand,
  envelope: anyResourceOfBrand,
};

function anyResourceOfBrand(first: string): string {
  return `${first} in (select value from json_each(:brandHrefs)
    union all select href from model where brand_href in (select value from json_each(:brandHrefs))
    union all select href from size where brand_href in (select value from json_each(:brandHrefs)))`;
}

const changedUrls = `select r.url from main._resource r join main._revision v on v.resource_id = r.id
  where v.from_run > :after and v.from_run <= :until or v.to_run > :after and v.to_run <= :until`;

/** Those with another brand than at the end of this run, or none then: a row of `size` has the brand of its model. */
const modelsOfOtherBrand = (run: number) => `select r.url from _model m join main._resource r on r.id = m.id
  where not exists (select 1 from (${rowsAt(entityTable("model"), run, "id = m.id")}) where brand_id is m.brand_id)`;

interface Condition {
  /** Begins with `where`, or is empty. */
  readonly sql: string;
  readonly values: Readonly<Record<string, unknown>>;
}

function conditionOf(
  { asOf }: MirrorReader,
  { name, first, key }: { readonly name: string; readonly first: string; readonly key: string },
  { hasChosenUrls = false, brandHrefs, changedAfterRun, hasChosenKeys = false }: RowSelection,
): Condition {
  // Rows of relations and pictures come from several resources, or have no revisions.
  const isIncremental = changedAfterRun !== undefined && name !== "relation" && name !== "media";
  const conditions = [
    ...(hasChosenUrls ? [`${first} in (select url from temp._chosen_url)`] : []),
    ...(brandHrefs ? [conditionOfBrand[name]?.(first) ?? "true"] : []),
    ...(isIncremental
      ? [
          name === "size"
            ? `(${first} in (${changedUrls}) or model_href in (${modelsOfOtherBrand(changedAfterRun)}))`
            : `${first} in (${changedUrls})`,
        ]
      : []),
    ...(hasChosenKeys ? [`${key} in (select key from temp.${chosenKeys})`] : []),
  ];
  return {
    sql: conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`,
    values: {
      ...(brandHrefs && conditionOfBrand[name] && { brandHrefs: JSON.stringify(brandHrefs) }),
      ...(isIncremental && {
        after: changedAfterRun,
        until: asOf?.run ?? Number.MAX_SAFE_INTEGER,
      }),
    },
  };
}

/** In the order of the selection. */
const chooseColumns = <Column extends string>(
  all: readonly Column[],
  { columns }: TableSelection,
): Column[] =>
  columns === undefined
    ? [...all]
    : [...new Set(columns)].flatMap((name) => all.filter((column) => column === name));

/**
 * With `+`, SQLite sorts the rows of a table. Else it reads all resources in the order of their URLs, of which most are sizes:
 * that takes longer for these tables.
 */
const sortedTables: readonly string[] = ["brand", "model", "model_picture"];

/** Without `checked_at`, which changes with every check although the data stays the same. */
function tableOf(mirror: MirrorReader, name: string, selection: RowSelection): PublicTable {
  const left = hasLoaded(mirror.db) ? ["checked_at"] : ["checked_at", "confirmed"];
  // Raw, since the table is given by name.
  const all = mirror.db
    .prepare<[], string>(`select name from pragma_table_info('${name}') order by cid`)
    .pluck()
    .all()
    .filter((column) => !left.includes(column));
  const columns = chooseColumns(all, selection);
  const first = all[0] ?? "";
  const order = orderOf(name, all);
  // Quoted: types differ, and some texts are blobs.
  const key = order.map((column) => `quote(${column})`).join(" || ',' || ");
  const sorting = sortedTables.includes(name) ? order.map((column) => `+${column}`) : order;
  const condition = conditionOf(mirror, { name, first, key }, selection);
  return {
    name,
    columns,
    key,
    isEmpty: () => hasNoRow(mirror, `${name} ${condition.sql}`, condition),
    *rows() {
      const statement = mirror.db
        .prepare(`select ${columns.join(", ")} from ${name} ${condition.sql} order by ${sorting.join(", ")}`)
        .raw()
        .safeIntegers();
      for (const row of statement.iterate(condition.values) as Iterable<unknown[]>) {
        // In place, since most rows need no conversion.
        for (let n = 0; n < row.length; n++)
          if (typeof row[n] === "object" && row[n] !== null) row[n] = fromStored(row[n]);
        yield row as Cell[];
      }
    },
  };
}

const hasNoRow = ({ db }: MirrorReader, from: string, { values }: Condition): boolean =>
  db.prepare<[unknown]>(`select 1 from ${from} limit 1`).get(values) === undefined;

const envelopeColumns = [
  "href",
  "kind",
  "fetched_at",
  "status",
  "etag",
  "sent_at",
  "modified_at",
  "content_type",
  "link",
  "body",
] as const;
type Envelope = Readonly<Record<(typeof envelopeColumns)[number], Cell>>;

/** The last revision of each resource, also of those that are gone. */
const envelopes = `select r.url as href, r.kind, ${isoTimeOf("v.fetched_at")} as fetched_at, v.status,
    ${lastEtagSql} as etag, ${isoTimeOf("v.sent_at")} as sent_at, ${isoTimeOf("v.modified_at")} as modified_at,
    h.content_type, h.link,
    c.codec, c.size, c.body, c.dictionary_id as dictionaryId
  from _resource r join _revision v on v.resource_id = r.id join _content c on c.id = v.content_id
    left join _headers h on h.id = v.headers_id
  where v.seq = (select max(seq) from _revision where resource_id = r.id)`;

function envelopeTable(mirror: MirrorReader, selection: TableSelection): PublicTable {
  const columns = chooseColumns(envelopeColumns, selection);
  const key = "quote(href)";
  const condition = conditionOf(mirror, { name: "envelope", first: "href", key }, selection);
  return {
    name: "envelope",
    columns,
    key,
    isEmpty: () => hasNoRow(mirror, `(${envelopes}) ${condition.sql}`, condition),
    *rows() {
      const readBody = prepareReadBody(mirror.db);
      const statement = mirror.db.prepare<[unknown], Omit<Envelope, "body"> & StoredBody>(
        `select * from (${envelopes}) ${condition.sql} order by href`,
      );
      for (const row of statement.iterate(condition.values)) {
        const envelope: Envelope = { ...row, body: readBody(row).toString() };
        yield columns.map((column) => envelope[column]);
      }
    },
  };
}

/** Earlier states of pictures are not recorded. */
function hasPictures({ db, identity, asOf }: MirrorReader): boolean {
  if (identity.area !== "account" || asOf !== null) return false;
  return prepare(db, () => q.selectFrom("_media_use").select("media_id").limit(1)).get() !== undefined;
}

/** The tables of lists have the position `n` in the list of `columns[0]`. Their definitions are not asked: they take long to load. */
function orderOf(table: string, columns: readonly string[]): readonly string[] {
  if (table === "media") return ["href", "field", "url"];
  if (table === "relation") return ["href", "name", "related_href"];
  if (table === "measurement_value") return ["href", "n", "name", "typeof(value)", "value"];
  return columns.includes("n") ? columns.slice(0, 1).concat("n") : ["href"];
}
