/**
 * What her bras are: the brands, models and sizes that they link to, into the catalogue's mirror, so that her data makes
 * sense where the service is gone. In: the account's mirror, which gets no more than the mark that this was asked for, and what
 * a sync of the catalogue takes. Out: that sync's report. Her token has no business here.
 */
import { kinds } from "../../jobs/kinds.ts";
import { findLinkedEntities } from "../mirror/linked-entities.ts";
import { wantLinked } from "../mirror/linked-wanted.ts";
import { systemClock, toIso } from "../service/clock.ts";
import type { SyncReport } from "./report.ts";
import { type SyncOptions, sync } from "./sync.ts";

export interface LinkedCatalogueOptions
  extends Omit<SyncOptions, "area" | "brands" | "depth" | "follow" | "only" | "order" | "user"> {
  /** The mirror that the links are in. */
  readonly accountFile: string;
}

/**
 * What is met only on the way, such as the brand of a model that a bra does not name, comes with the next run.
 * @returns null where her bras link to nothing
 * @throws RangeError for a user's token; else as `sync` does
 */
export async function syncLinkedCatalogue({
  accountFile,
  ...options
}: LinkedCatalogueOptions): Promise<SyncReport | null> {
  if (options.credential?.kind === "token")
    throw new RangeError("credential is the catalogue's own, not a user's token");
  const { clock = systemClock } = options;
  await wantLinked({ file: accountFile, kinds, openedAt: toIso(clock.now()) });
  const only = findLinkedEntities(accountFile, options.file).map(({ url, kind }) => ({ url, kind }));
  return only.length === 0 ? null : await sync({ ...options, ...whatIsLinked, only });
}

/** Nothing that she asked for beyond her own data changes how the catalogue is walked later. */
const whatIsLinked = { area: "catalogue", brands: [], follow: [], order: "breadth" } as const;
