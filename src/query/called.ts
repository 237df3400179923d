/**
 * What may be meant by what a person calls a thing: its slugs from the brand down, its slug, code or name, its URL, or
 * that of the service's page about it. Case and accents do not matter where nothing fits exactly, and what is gone is
 * found where nothing that is there has the name.
 */
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import { fromStored } from "../mirror/rows/cell.ts";
import { spellings } from "../mirror/search/names.ts";

/** What has a table of its own, and so can be shown. */
export const shownKinds = ["brand", "model", "size", "user", "bra", "measurement"] as const;
export type ShownKind = (typeof shownKinds)[number];

export interface FoundResource {
  readonly href: string;
  readonly isGone: boolean;
  /** What tells it from others of its kind, shortest first: id, slug, code, name; as many as it has. */
  readonly names: readonly string[];
}

interface Naming {
  readonly columns: readonly string[];
  /** Whose it is: the kind whose key may stand before its own, and the column that leads there. */
  readonly parent: { readonly kind: ShownKind; readonly column: string } | null;
  /** Whether the last segment of its URL is its id (service-specification, section 4, rule 2). */
  readonly hasId?: boolean;
  /** Where to look it up, unless that is the table of its kind. */
  readonly from?: string;
}

const namings: Readonly<Record<ShownKind, Naming>> = {
  brand: { columns: ["slug", "name"], parent: null },
  model: {
    columns: ["slug", "code", "name", "full_name"],
    parent: { kind: "brand", column: "brand_href" },
  },
  size: { columns: ["size"], parent: { kind: "model", column: "model_href" } },
  user: { columns: ["username"], parent: null },
  bra: { columns: ["name"], parent: null, hasId: true },
  // A list that holds its measurements has several of them at its one URL.
  measurement: {
    columns: [],
    parent: null,
    hasId: true,
    from: "(select distinct href, gone_at, null as service_url from measurement)",
  },
};

/** All that the key may mean; the words of a key stand for a parent and its child wherever a slash is between them. */
export function findCalled(mirror: MirrorReader, kind: ShownKind, key: string): FoundResource[] {
  for (const { parents, rest } of splitKey(mirror, kind, key)) {
    const found = pickCalled(listResources(mirror, kind, parents), rest);
    if (found.length > 0) return found;
  }
  return pickCalled(listResources(mirror, kind, null), key);
}

/** The ways to read a key as a parent's and what follows, where there is such a parent. */
export function* splitKey(
  mirror: MirrorReader,
  kind: ShownKind,
  key: string,
): Generator<{ readonly parents: readonly FoundResource[]; readonly before: string; readonly rest: string }> {
  const { parent } = namings[kind];
  if (parent === null) return;
  for (let at = key.lastIndexOf("/"); at > 0; at = key.lastIndexOf("/", at - 1)) {
    const before = key.slice(0, at);
    const parents = findCalled(mirror, parent.kind, before);
    if (parents.length > 0) yield { parents, before, rest: key.slice(at + 1) };
  }
}

/** @param parents null for those of all */
export function listResources(
  { db }: MirrorReader,
  kind: ShownKind,
  parents: readonly FoundResource[] | null,
): FoundResource[] {
  const { columns, parent, hasId = false, from = kind } = namings[kind];
  const condition =
    parents === null ? "true" : `${parent?.column} in (select value from json_each(:parents))`;
  const rows = db
    .prepare(
      `select ${["href", "gone_at", ...columns].join(", ")} from ${from} where ${condition} order by href`,
    )
    .raw()
    .all(parents === null ? {} : { parents: JSON.stringify(parents.map(({ href }) => href)) });
  return (rows as unknown[][]).map(([href, goneAt, ...cells]) => ({
    href: String(href),
    isGone: goneAt !== null,
    names: [
      ...(hasId ? [idIn(String(href))] : []),
      ...cells.map(fromStored).filter((cell) => typeof cell === "string"),
    ],
  }));
}

function idIn(href: string): string {
  return new URL(href).pathname.split("/").findLast((segment) => segment !== "") ?? "";
}

function pickCalled(candidates: readonly FoundResource[], key: string): FoundResource[] {
  for (const spell of spellings) {
    const wanted = spell(key);
    const called = candidates.filter(({ names }) => names.some((name) => spell(name) === wanted));
    const current = called.filter(({ isGone }) => !isGone);
    if (wanted !== "" && called.length > 0) return current.length > 0 ? current : called;
  }
  return [];
}

/** Its own URL, or that of the service's page about it. */
export function findByUrl({ db }: MirrorReader, kind: ShownKind, url: string): FoundResource[] {
  const spellings = JSON.stringify(spellingsOf(url));
  const find = (column: string) =>
    db
      .prepare<[string], { href: string; gone_at: string | null }>(
        `select href, gone_at from ${namings[kind].from ?? kind} where ${column} in (select value from json_each(?)) order by href`,
      )
      .all(spellings)
      .map(({ href, gone_at }) => ({ href, isGone: gone_at !== null, names: [] }));
  const found = find("href");
  return found.length > 0 ? found : find("service_url");
}

/** As it is given, and with scheme and host in lower case; with and without a slash at the end. */
export function spellingsOf(url: string): string[] {
  const written = URL.canParse(url) ? [url, new URL(url).href] : [url];
  return [...new Set(written.flatMap((one) => [one, one.replace(/\/$/, ""), one.replace(/\/?$/, "/")]))];
}
