/**
 * The way from an account's mirror into the catalogue's: what her bras are, as links that were found in the one and are
 * followed in the other. Nothing else of hers goes that way.
 */
import type { Resources } from "./derive/resources.ts";
import type { MirrorReader } from "./mirror-reader.ts";

/** An address as the service gave it, and what its link said that it leads to. */
export interface GivenLink {
  readonly url: string;
  readonly kind: string;
}

/** What a bra is, for SQL. */
export const linkedKinds = "'brand', 'model', 'size'";

/** The brands, models and sizes that bras link to, also those that are gone by now; in the order of their addresses. */
export function readLinksElsewhere({ db }: MirrorReader): GivenLink[] {
  return db
    .prepare<[], GivenLink>(
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
export function ensureGiven(resources: Resources, links: readonly GivenLink[], runId: number): number[] {
  return links.map(({ url, kind }) => {
    const known = resources.find(url);
    return known?.kind === kind ? known.id : resources.ensure(url, kind, null, runId).id;
  });
}
