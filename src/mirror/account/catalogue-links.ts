/**
 * From an account's mirror into the catalogue: links from the user's bras to brands, models and sizes are found in
 * the one mirror and followed in the other. Nothing else of an account gets into a catalogue mirror.
 */
import { existsSync } from "node:fs";
import { sql } from "kysely";
import type { Resources } from "../derive/resources.ts";
import type { Connection } from "../file/connection.ts";
import { prepare } from "../file/statements.ts";
import { prepareKnownAddresses } from "../known-addresses.ts";
import { q } from "../queries/query-builder.ts";
import { type MirrorReader, readMirror } from "../reader.ts";

export interface CatalogueLink {
  /** As sent by the service. */
  readonly url: string;
  /** The kind that the link implies. */
  readonly kind: string;
}

const linkedKinds = ["brand", "model", "size"] as const;

/** The targets of bras' links, tombstones included, ordered by URL. */
export function readCatalogueLinks({ db }: MirrorReader): CatalogueLink[] {
  return prepare(db, () =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as s", "s.id", "l.from_id")
      .innerJoin("_resource as t", "t.id", "l.to_id")
      .select(["t.url", "t.kind"])
      .distinct()
      .where("s.kind", "=", "bra")
      .where("t.state", "=", "elsewhere")
      .where("t.kind", "in", linkedKinds)
      .orderBy("t.url"),
  ).all();
}

/**
 * Adds the links' targets to a catalogue mirror. Known ones do not change: a tombstone is not requested again because
 * a bra once was of that model.
 * @returns their ids
 */
export function addLinks(resources: Resources, links: readonly CatalogueLink[], runId: number): number[] {
  return links.map(({ url, kind }) => {
    const known = resources.find(url);
    return known?.kind === kind ? known.id : resources.ensure(url, kind, null, runId).id;
  });
}

/** A catalogue resource that a bra links to, directly or by way of its size or model. */
export interface LinkedEntity extends CatalogueLink {
  /** `gone`: absent when first requested. A `held` one may have become a tombstone since. */
  readonly state: "held" | "due" | "failed" | "gone";
}

/**
 * Follows links from a size to its model and from a model to its brand, as far as the catalogue mirror has them.
 * @param accountLinks the result of `readCatalogueLinks`
 * @param catalogue null if there is none: then all are due
 * @returns ordered by URL
 */
export function readLinkedEntities(
  accountLinks: readonly CatalogueLink[],
  catalogue: MirrorReader | null,
): LinkedEntity[] {
  const { find, linksOf } = catalogue === null ? emptyCatalogue : prepareCatalogue(catalogue.db);
  const found = new Map<string, LinkedEntity>();
  const queue = [...accountLinks];
  // The queue grows during the loop.
  for (const { url, kind } of queue) {
    const known = find(url);
    const address = known?.url ?? url;
    if (found.has(address)) continue;
    found.set(address, { url: address, kind, state: known?.state ?? "due" });
    if (known !== undefined) queue.push(...linksOf(known.id));
  }
  return [...found.values()].sort((a, b) => (a.url < b.url ? -1 : 1));
}

/** As `readLinkedEntities`. @param catalogueFile may not exist. @throws MirrorError */
export function findLinkedEntities(accountFile: string, catalogueFile: string): LinkedEntity[] {
  const links = readMirror(accountFile, readCatalogueLinks);
  if (!existsSync(catalogueFile)) return readLinkedEntities(links, null);
  return readMirror(catalogueFile, (catalogue) => readLinkedEntities(links, catalogue));
}

interface Catalogue {
  /** Also by another spelling of its address. */
  find(
    url: string,
  ): { readonly id: number; readonly url: string; readonly state: LinkedEntity["state"] } | undefined;
  linksOf(id: number): CatalogueLink[];
}

const emptyCatalogue: Catalogue = { find: () => undefined, linksOf: () => [] };

function prepareCatalogue(db: Connection): Catalogue {
  const select = prepare(db, (p: { url: string }) =>
    q
      .selectFrom("_resource")
      .select([
        ...(["id", "url"] as const),
        sql<LinkedEntity["state"]>`case when id in (select resource_id from _revision) then 'held'
          when state in ('failed', 'gone') then state else 'due' end`.as("state"),
      ])
      .where("url", "=", p.url)
      .where("kind", "in", linkedKinds),
  );
  const addresses = prepareKnownAddresses(db);
  const selectLinks = prepare(db, (p: { id: number }) =>
    q
      .selectFrom("_link as l")
      .innerJoin("_resource as t", "t.id", "l.to_id")
      .select(["t.url", "t.kind"])
      .where("l.from_id", "=", p.id)
      .where("t.kind", "in", linkedKinds)
      .orderBy("t.url"),
  );
  const find = (url: string) =>
    [url, ...addresses.othersOf(url)].flatMap((spelling) => select.get({ url: spelling }) ?? [])[0];
  return { find, linksOf: (id) => selectLinks.all({ id }) };
}

/** The resources that a sync of linked resources would fetch for the first time. It may also make due checks. */
export interface LinkedCataloguePlan {
  /** The catalogue's mirror. */
  readonly mirror: string;
  /** Linked resources that are not held, by kind: each costs a request of the catalogue's allowance. */
  readonly due: readonly { readonly kind: string; readonly fetch: number }[];
}

/**
 * Plans a sync of linked resources from both mirrors, without a request.
 * @returns null before the account's first sync
 * @throws MirrorError
 */
export function planLinkedCatalogue(accountFile: string, file: string): LinkedCataloguePlan | null {
  if (!existsSync(accountFile)) return null;
  const missing = findLinkedEntities(accountFile, file).filter(
    ({ state }) => state === "due" || state === "failed",
  );
  const due = [...Map.groupBy(missing, ({ kind }) => kind)]
    .map(([kind, { length }]) => ({ kind, fetch: length }))
    .sort((a, b) => (a.kind < b.kind ? -1 : 1));
  return { mirror: file, due };
}
