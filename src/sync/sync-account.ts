/**
 * An account with all that makes it whole: her data, then what her bras are, then the pictures. In: one set of options, and
 * which of the later parts are wanted. Out: one report. Each part has a credential and an allowance of its own, the budget
 * is one for all; a later part that cannot be done takes nothing from those that can.
 */

import { existsSync } from "node:fs";
import { kinds } from "../../jobs/kinds.ts";
import { cataloguePrincipal } from "../accounts/account.ts";
import { linkCatalogue } from "../mirror/account/catalogue-linking.ts";
import { findLinkedEntities } from "../mirror/account/catalogue-links.ts";
import { systemClock, toIso } from "../platform/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import type { MediaReport, PictureOrigin } from "./media/fetch-pictures.ts";
import { syncMedia } from "./media/sync-media.ts";
import type { SyncReport } from "./report.ts";
import { type SyncOptions, sync } from "./sync.ts";

/** What is asked of the service besides her data is not asked with her token. */
export interface CataloguePart {
  /** The catalogue's mirror. */
  readonly file: string;
  readonly ledgerFile: string;
  readonly credential: Credential | null;
}

export interface MediaPart {
  /** The catalogue's, where requests without a credential are counted. */
  readonly ledgerFile: string;
  /** Told of the origins besides the service's, before the first picture is asked for. */
  readonly onOtherOrigins?: (origins: readonly PictureOrigin[]) => void;
}

export interface AccountSyncOptions extends Omit<SyncOptions, "area" | "only"> {
  /** Not unless told. */
  readonly catalogue?: CataloguePart | null;
  /** Not unless told. */
  readonly media?: MediaPart | null;
}

export interface AccountSyncReport extends SyncReport {
  /** Where it was wanted; null where her bras link to nothing, or it could not be done. */
  readonly catalogue?: SyncReport | null;
  /** Where it was wanted; null where it could not be done. */
  readonly media?: MediaReport | null;
}

export interface AccountSyncResult {
  readonly report: AccountSyncReport;
  /** Why later parts could not be done. */
  readonly errors: readonly unknown[];
}

/** @throws as `sync` does, for her own data */
export async function syncAccount({
  catalogue,
  media,
  ...options
}: AccountSyncOptions): Promise<AccountSyncResult> {
  const { file, budget = null, signal } = options;
  const { credential: _hers, user: _herself, ...shared } = options;
  const workers = options.workers && { workers: { ...options.workers, principal: cataloguePrincipal } };
  const errors: unknown[] = [];
  let report: AccountSyncReport = await sync({ ...options, area: "account" });
  let spent = report.requests.counted;
  const tryPart = async <Part>(part: (left: number | null) => Promise<Part>): Promise<Part | null> => {
    if (signal?.aborted) return null;
    try {
      return await part(budget === null ? null : Math.max(0, budget - spent));
    } catch (error) {
      errors.push(error);
      return null;
    }
  };
  if (catalogue) {
    const part = await tryPart((left) =>
      syncLinkedCatalogue({ ...shared, ...catalogue, ...workers, accountFile: file, budget: left }),
    );
    spent += part?.requests.counted ?? 0;
    report = { ...report, catalogue: part };
  }
  if (media) {
    const part = await tryPart((left) => syncMedia({ ...shared, ...media, file, budget: left }));
    report = { ...report, media: part };
  }
  return { report, errors };
}

/**
 * What her bras are: the brands, models and sizes that they link to, into the catalogue's mirror, so that her data makes
 * sense where the service is gone. In: the account's mirror, which gets no more than the mark that this was asked for, and what
 * a sync of the catalogue takes. Out: that sync's report. Her token has no business here.
 */

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
  await linkCatalogue({ file: accountFile, kinds, openedAt: toIso(clock.now()) });
  const only = findLinkedEntities(accountFile, options.file).map(({ url, kind }) => ({ url, kind }));
  return only.length === 0 ? null : await sync({ ...options, ...whatIsLinked, only });
}

/** Nothing that she asked for beyond her own data changes how the catalogue is walked later. */
const whatIsLinked = { area: "catalogue", brands: [], follow: [], order: "breadth" } as const;

/**
 * What `syncLinkedCatalogue` would fetch for the first time, from both mirrors alone and without a request. What is held may be
 * checked besides, where a check is owed.
 */

export interface LinkedCataloguePlan {
  /** The catalogue's mirror. */
  readonly mirror: string;
  /** By kind, what her bras link to and is not held, as far as is known: each costs a request of the catalogue's allowance. */
  readonly due: readonly { readonly kind: string; readonly fetch: number }[];
}

/**
 * @returns null before the account's first sync, when nobody knows what her bras link to
 * @throws MirrorError
 */
export function planLinkedCatalogue(accountFile: string, file: string): LinkedCataloguePlan | null {
  if (!existsSync(accountFile)) return null;
  const missing = findLinkedEntities(accountFile, file).filter(
    ({ state }) => state === "due" || state === "failed",
  );
  const due = [...Map.groupBy(missing, ({ kind }) => kind)]
    .map(([kind, { length }]) => ({ kind, fetch: length }))
    .sort((one, other) => (one.kind < other.kind ? -1 : 1));
  return { mirror: file, due };
}
