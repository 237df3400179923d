/**
 * The resources that match a key. The strictest match wins: exact spelling, then without case and accents, then as slugs.
 * Tombstones match only if no current resource does.
 */
import { idOf, resourceKey } from "../../../schema/views/resource-key.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { fromStored } from "../../mirror/rows/cells.ts";
import { spellings } from "../../platform/text/fuzzy-names.ts";

/** The kinds that have a public table. */
export const shownKinds = ["brand", "model", "size", "user", "bra", "measurement"] as const;
export type ShownKind = (typeof shownKinds)[number];

export interface FoundResource {
  /** The URL of the resource. */
  readonly href: string;
  /** Whether it is a tombstone. */
  readonly isGone: boolean;
  /** Its slug or id, which the keys in output end with. */
  readonly ownKey: string | null;
  /** Its id, slug, code and names, as far as it has them; the shortest first. */
  readonly names: readonly string[];
}

interface KeyColumns {
  /** Where the public table has the names of a resource, the shortest first. */
  readonly columns: readonly string[];
  /** The kind whose key may precede this one, and the column with its URL. */
  readonly parent: { readonly kind: ShownKind; readonly column: string } | null;
  /** Default: the public table of the kind. */
  readonly from?: string;
}

const keyColumns: Readonly<Record<ShownKind, KeyColumns>> = {
  brand: { columns: ["slug", "name"], parent: null },
  model: {
    columns: ["slug", "code", "name", "full_name"],
    parent: { kind: "brand", column: "brand_href" },
  },
  size: { columns: ["size"], parent: { kind: "model", column: "model_href" } },
  user: { columns: ["username"], parent: null },
  // The last segment of the URL is an id (service-specification, section 4, rule 2).
  bra: { columns: [idOf("href"), "name"], parent: null },
  // Several measurements have the same URL if a list contains them.
  measurement: {
    columns: [idOf("href")],
    parent: null,
    from: "(select distinct href, gone_at, null as service_url from measurement)",
  },
};

/** Names may contain slashes, so every slash may separate the parent's key from the rest. */
export function findByName(mirror: MirrorReader, kind: ShownKind, key: string): FoundResource[] {
  for (const { parents, rest } of splitKey(mirror, kind, key)) {
    const found = findNamed(mirror, kind, parents, rest);
    if (found.length > 0) return found;
  }
  const found = findNamed(mirror, kind, null, key);
  return found.length > 0 ? found : findByExactKey(mirror, kind, key);
}

/** Reading and normalizing the names of all takes long, so SQLite looks for the exact spelling first. */
function findNamed(
  mirror: MirrorReader,
  kind: ShownKind,
  parents: readonly FoundResource[] | null,
  name: string,
): FoundResource[] {
  const filter = filterByParents(kind, parents);
  const exact = readNames(mirror, kind, filter, name);
  // A name that is the slug of another resource: the printed key means that one.
  const keyed = exact.filter(({ ownKey }) => ownKey === name);
  if (keyed.length > 0) return preferCurrent(keyed);
  return exact.length > 0 ? preferCurrent(exact) : matchNames(readNames(mirror, kind, filter), name);
}

/** Such as a model whose brand is not fetched: its key has the slug of the brand nevertheless. */
function findByExactKey(mirror: MirrorReader, kind: ShownKind, key: string): FoundResource[] {
  // Raw: an expression that views share.
  const select = mirror.db.prepare<object, string>(
    `select r.url from _resource r where r.kind = :kind and ${resourceKey("r")} = :key`,
  );
  const values = select.pluck().all({ kind: kind === "user" ? "me" : kind, key });
  return values.length === 0 ? [] : preferCurrent(readNames(mirror, kind, { column: "href", values }));
}

/** Every way to split a key into the key of an existing parent and the rest. */
export function* splitKey(
  mirror: MirrorReader,
  kind: ShownKind,
  key: string,
): Generator<{ parents: readonly FoundResource[]; parentKey: string; rest: string }> {
  const { parent } = keyColumns[kind];
  if (parent === null) return;
  for (let at = key.lastIndexOf("/"); at > 0; at = key.lastIndexOf("/", at - 1)) {
    const parentKey = key.slice(0, at);
    const parents = findByName(mirror, parent.kind, parentKey);
    if (parents.length > 0) yield { parents, parentKey, rest: key.slice(at + 1) };
  }
}

function matchNames(candidates: readonly FoundResource[], key: string): FoundResource[] {
  for (const normalize of spellings) {
    const normalized = normalize(key);
    if (normalized === "") continue;
    const matches = candidates.filter(({ names }) => names.some((name) => normalize(name) === normalized));
    if (matches.length > 0) return preferCurrent(matches);
  }
  return [];
}

export function preferCurrent(resources: FoundResource[]): FoundResource[] {
  const current = resources.filter(({ isGone }) => !isGone);
  return current.length > 0 ? current : resources;
}

/** By its own URL, or else by that of the service's web page about it. */
export function findByUrl(mirror: MirrorReader, kind: ShownKind, url: string): FoundResource[] {
  const variants = urlVariants(url);
  const found = readNames(mirror, kind, { column: "href", values: variants });
  return found.length > 0 ? found : readNames(mirror, kind, { column: "service_url", values: variants });
}

/** The URL as given and normalized, each with and without a final slash. */
export function urlVariants(url: string): string[] {
  const forms = URL.canParse(url) ? [url, new URL(url).href] : [url];
  return [...new Set(forms.flatMap((form) => [form, form.replace(/\/$/, ""), form.replace(/\/?$/, "/")]))];
}

/** @param parents null for all resources of the kind */
export function listResources(
  mirror: MirrorReader,
  kind: ShownKind,
  parents: readonly FoundResource[] | null,
): FoundResource[] {
  return readNames(mirror, kind, filterByParents(kind, parents));
}

interface NameFilter {
  readonly column: string;
  readonly values: readonly string[];
}

function filterByParents(kind: ShownKind, parents: readonly FoundResource[] | null): NameFilter | null {
  const { parent } = keyColumns[kind];
  if (parents === null || parent === null) return null;
  return { column: parent.column, values: parents.map(({ href }) => href) };
}

/**
 * Raw SQL: the view and its columns depend on the kind.
 * @param name only resources with this name, in this spelling; default: with any
 */
function readNames(
  { db }: MirrorReader,
  kind: ShownKind,
  filter: NameFilter | null,
  name?: string,
): FoundResource[] {
  const { columns, from = kind } = keyColumns[kind];
  const conditions = [
    ...(filter === null ? [] : [`${filter.column} in (select value from json_each(:values))`]),
    ...(name === undefined ? [] : [`:name in (${columns.join(", ")})`]),
  ];
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
  const select = db.prepare(
    // By +href, so that SQLite does not go through the URLs of all kinds in order.
    `select ${["href", "gone_at", ...columns].join(", ")} from ${from} ${where} order by +href`,
  );
  const rows = select.raw().all({
    ...(filter !== null && { values: JSON.stringify(filter.values) }),
    ...(name !== undefined && { name }),
  });
  return (rows as unknown[][]).map(([href, goneAt, ...cells]) => ({
    href: String(href),
    isGone: goneAt !== null,
    ownKey: toText(cells[0]),
    names: cells.map(toText).filter((name) => name !== null),
  }));
}

function toText(cell: unknown): string | null {
  const value = fromStored(cell);
  return value === null ? null : String(value);
}
