/**
 * What her bras are, as far as the catalogue's mirror knows it: from a bra to its brand, model and size, and on from a size to
 * its model and from a model to its brand, as each is linked. In: both mirrors, read only. Out: an entry for each.
 */
import { existsSync } from "node:fs";
import { type GivenLink, linkedKinds, readLinksElsewhere } from "./elsewhere.ts";
import type { Connection } from "./file/connection.ts";
import { type MirrorReader, readMirror } from "./mirror-reader.ts";

export interface LinkedEntity extends GivenLink {
  /** `gone` is what was not there any more when it was first asked for; what is held may be gone since. */
  readonly state: "held" | "due" | "failed" | "gone";
}

/**
 * @param given what the account's mirror links to elsewhere
 * @param catalogue null where there is none: then all are due
 * @returns in the order of their addresses
 */
export function readLinkedEntities(
  given: readonly GivenLink[],
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
  const given = readMirror(accountFile, readLinksElsewhere);
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

function prepareOwnersOf(db: Connection): (id: number) => GivenLink[] {
  const select = db.prepare<[number], GivenLink>(
    `select t.url, t.kind from _link l join _resource t on t.id = l.to_id
     where l.from_id = ? and t.kind in (${linkedKinds}) order by t.url`,
  );
  return (id) => select.all(id);
}
