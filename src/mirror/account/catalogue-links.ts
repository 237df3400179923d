/**
 * The way from an account's mirror into the catalogue's: what her bras are, as links that were found in the one and are
 * followed in the other. Nothing else of hers goes that way.
 */

import { existsSync } from "node:fs";
import type { Resources } from "../derive/resources.ts";
import type { Connection } from "../file/connection.ts";
import { type MirrorReader, readMirror } from "../reader.ts";

/** An address as the service gave it, and what its link said that it leads to. */
export interface CatalogueLink {
  readonly url: string;
  readonly kind: string;
}

/** What a bra is, for SQL. */
export const linkedKinds = "'brand', 'model', 'size'";

/** The brands, models and sizes that bras link to, also those that are gone by now; in the order of their addresses. */
export function readCatalogueLinks({ db }: MirrorReader): CatalogueLink[] {
  return db
    .prepare<[], CatalogueLink>(
      `select distinct t.url, t.kind from _link l join _resource s on s.id = l.from_id and s.kind = 'bra'
       join _resource t on t.id = l.to_id and t.state = 'elsewhere' where t.kind in (${linkedKinds}) order by t.url`,
    )
    .all();
}

/**
 * Makes known what nothing in this mirror has led to yet. What is known stays what it is: a tombstone is not asked for
 * again because somebody's bra once was of that model.
 * @returns their ids
 */
export function addLinks(resources: Resources, links: readonly CatalogueLink[], runId: number): number[] {
  return links.map(({ url, kind }) => {
    const known = resources.find(url);
    return known?.kind === kind ? known.id : resources.ensure(url, kind, null, runId).id;
  });
}

/**
 * What her bras are, as far as the catalogue's mirror knows it: from a bra to its brand, model and size, and on from a size to
 * its model and from a model to its brand, as each is linked. In: both mirrors, read only. Out: an entry for each.
 */

export interface LinkedEntity extends CatalogueLink {
  /** `gone` is what was not there any more when it was first asked for; what is held may be gone since. */
  readonly state: "held" | "due" | "failed" | "gone";
}

/**
 * @param given what the account's mirror links to elsewhere
 * @param catalogue null where there is none: then all are due
 * @returns in the order of their addresses
 */
export function readLinkedEntities(
  given: readonly CatalogueLink[],
  catalogue: MirrorReader | null,
): LinkedEntity[] {
  const lookUp = catalogue === null ? () => undefined : prepareLookUp(catalogue.db);
  const ownersOf = catalogue === null ? () => [] : prepareOwnersOf(catalogue.db);
  const found = new Map<string, LinkedEntity>();
  const links = [...given];
  // It grows while it is gone through.
  for (const { url, kind } of links) {
    if (found.has(url)) continue;
    const known = lookUp(url);
    found.set(url, { url, kind, state: known?.state ?? "due" });
    if (known !== undefined) links.push(...ownersOf(known.id));
  }
  return [...found.values()].sort((one, other) => (one.url < other.url ? -1 : 1));
}

/**
 * The same from files. @param catalogueFile need not be there
 * @throws MirrorError
 */
export function findLinkedEntities(accountFile: string, catalogueFile: string): LinkedEntity[] {
  const given = readMirror(accountFile, readCatalogueLinks);
  if (!existsSync(catalogueFile)) return readLinkedEntities(given, null);
  return readMirror(catalogueFile, (catalogue) => readLinkedEntities(given, catalogue));
}

interface Known {
  readonly id: number;
  readonly state: LinkedEntity["state"];
}

function prepareLookUp(db: Connection): (url: string) => Known | undefined {
  const select = db.prepare<[string], Known>(
    `select id, case when id in (select resource_id from _revision) then 'held'
       when state in ('failed', 'gone') then state else 'due' end as state
     from _resource where url = ? and kind in (${linkedKinds})`,
  );
  return (url) => select.get(url);
}

function prepareOwnersOf(db: Connection): (id: number) => CatalogueLink[] {
  const select = db.prepare<[number], CatalogueLink>(
    `select t.url, t.kind from _link l join _resource t on t.id = l.to_id
     where l.from_id = ? and t.kind in (${linkedKinds}) order by t.url`,
  );
  return (id) => select.all(id);
}
