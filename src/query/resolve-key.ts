/** The one resource that is meant by a URL, slugs such as `brand/model/size`, an id, or a name. */
import type { MirrorReader } from "../mirror/reader.ts";
import { fromStored } from "../mirror/rows/cells.ts";
import { errorClass } from "../platform/errors.ts";
import { plainName, similarNames, spellings } from "../platform/fuzzy-names.ts";

/**
 * @param key null for the only one of its kind
 * @throws KeyError when the key finds none, or several
 */
export function findResource(mirror: MirrorReader, kind: ShownKind, key: string | null): FoundResource {
  const [found, ...others] = findAll(mirror, kind, key);
  if (found === undefined) throw nothingFound(mirror, kind, key);
  if (others.length === 0) return found;
  const listed = [found, ...others].slice(0, 5).map(({ href, names }) => {
    const name = names.at(-1);
    return name === undefined ? href : `${href} (${name})`;
  });
  throw new KeyError(
    "ambiguous",
    `${key === null ? "There are several" : `Several are called ${JSON.stringify(key)}`}: ${listed.join(", ")}${others.length > 4 ? ", …" : ""}`,
    "Give the URL of one of them.",
  );
}

function findAll(mirror: MirrorReader, kind: ShownKind, key: string | null): FoundResource[] {
  if (key === null) {
    const all = listResources(mirror, kind, null);
    const current = all.filter(({ isGone }) => !isGone);
    return current.length > 0 ? current : all;
  }
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(key);
  return isUrl ? findByUrl(mirror, kind, key) : findByKey(mirror, kind, key);
}

function nothingFound(mirror: MirrorReader, kind: ShownKind, key: string | null): KeyError {
  const isOfAccount = kind === "user" || kind === "bra" || kind === "measurement";
  if (isOfAccount !== (mirror.identity.area === "account")) {
    return isOfAccount
      ? new KeyError(
          "unknown",
          `A ${kind} is in no mirror of a catalogue`,
          "--account NAME says whose mirror to look into.",
        )
      : new KeyError(
          "unknown",
          `A ${kind} is in no mirror of an account`,
          "Without --account it is looked for in the catalogue's.",
        );
  }
  if (key !== null) return suggestKeys(mirror, kind, key);
  return new KeyError(
    "unknown",
    `The mirror holds no ${kind} yet`,
    "A sync fetches it; `armoire status` says what is held.",
  );
}

/**
 * What may be meant by what a person calls a thing: its slugs from the brand down, its slug, code or name, its URL, or
 * that of the service's page about it. Case and accents do not matter where nothing fits exactly, and what is gone is
 * found where nothing that is there has the name.
 */

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
export function findByKey(mirror: MirrorReader, kind: ShownKind, key: string): FoundResource[] {
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
    const parents = findByKey(mirror, parent.kind, before);
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
  const spellings = JSON.stringify(urlVariants(url));
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
export function urlVariants(url: string): string[] {
  const written = URL.canParse(url) ? [url, new URL(url).href] : [url];
  return [...new Set(written.flatMap((one) => [one, one.replace(/\/$/, ""), one.replace(/\/?$/, "/")]))];
}

/** What to say where a key finds nothing: what is known and not fetched yet, or what was perhaps meant. */

interface KnownResource {
  readonly href: string;
  readonly name: string | null;
  readonly state: string;
}

export function suggestKeys(mirror: MirrorReader, kind: ShownKind, key: string): KeyError {
  const known = mirror.db
    .prepare<[string], KnownResource>("select href, name, state from known where kind = ?")
    .all(kind === "user" ? "me" : kind);
  const spellings = new Set(urlVariants(key));
  const unfetched = known.find(
    ({ href, name, state }) =>
      (state === "due" || state === "failed") &&
      (spellings.has(href) || (typeof name === "string" && plainName(name) === plainName(key))),
  );
  if (unfetched !== undefined) {
    return new KeyError(
      "unknown",
      `The mirror knows the ${kind} ${JSON.stringify(key)} and does not hold it yet: ${unfetched.href}`,
      "`armoire sync` fetches it, `armoire plan` says when.",
    );
  }
  const alike = suggestChildren(mirror, kind, key) ?? similarNames(key, namesOf(known), 3);
  return new KeyError(
    "unknown",
    `The mirror holds no ${kind} called ${JSON.stringify(key)}`,
    alike.length > 0
      ? `Did you mean ${alike.map((name) => JSON.stringify(name)).join(" or ")}?`
      : "A key is a URL, slugs such as brand/model/size, or a name; `armoire status` says what is held.",
  );
}

/** Where the key begins with what there is: what else of that is called nearly so. */
function suggestChildren(mirror: MirrorReader, kind: ShownKind, key: string): string[] | null {
  const [split] = splitKey(mirror, kind, key);
  if (split === undefined) return null;
  const { parents, before, rest } = split;
  const names = listResources(mirror, kind, parents).flatMap((child) => child.names.slice(0, 1));
  return similarNames(rest, names, 3).map((name) => `${before}/${name}`);
}

const namesOf = (known: readonly KnownResource[]) =>
  known.flatMap(({ name }) => (typeof name === "string" ? [name] : []));

/** Nothing, or more than one thing, is called so. */
export class KeyError extends errorClass("KeyError", { unknown: "failed", ambiguous: "failed" }) {}
