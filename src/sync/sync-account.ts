/**
 * Syncs an account as a whole: the user's data, then the catalogue resources that its bras link to, then its pictures. Each
 * part has its own credential and allowance; the budget covers all. A failing later part does not affect the others.
 */
import { kinds } from "../../jobs/kinds.ts";
import { cataloguePrincipal } from "../accounts/account-name.ts";
import { linkCatalogue } from "../mirror/account/catalogue-linking.ts";
import { findLinkedEntities } from "../mirror/account/catalogue-links.ts";
import { systemClock, toIso } from "../platform/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import type { MediaReport, PictureOrigin } from "./media/fetch-pictures.ts";
import { syncMedia } from "./media/sync-media.ts";
import type { SyncReport } from "./report.ts";
import { type SyncOptions, sync } from "./sync.ts";

/** The catalogue's mirror and credential: the user's token is not used for it. */
export interface CataloguePart {
  /** The catalogue's mirror. */
  readonly file: string;
  /** The catalogue's ledger. */
  readonly ledgerFile: string;
  readonly credential: Credential | null;
}

export interface MediaPart {
  /** The catalogue's ledger, which counts requests without a credential. */
  readonly ledgerFile: string;
  /** Called with the origins other than the service's, before the first request for a picture. */
  readonly onOtherOrigins?: (origins: readonly PictureOrigin[]) => void;
}

export interface AccountSyncOptions extends Omit<SyncOptions, "area" | "only"> {
  /** Default: null, the catalogue is not synced. */
  readonly catalogue?: CataloguePart | null;
  /** Default: null, no pictures are downloaded. */
  readonly media?: MediaPart | null;
}

export interface AccountSyncReport extends SyncReport {
  /** Set if requested; null if the bras link to nothing, or the part failed. */
  readonly catalogue?: SyncReport | null;
  /** Set if requested; null if the part failed. */
  readonly media?: MediaReport | null;
}

export interface AccountSyncResult {
  readonly report: AccountSyncReport;
  /** The errors of failed later parts. */
  readonly errors: readonly unknown[];
}

/**
 * Syncs an account with the requested parts.
 * @throws as `sync`, for the user's data
 */
export async function syncAccount({
  catalogue,
  media,
  ...options
}: AccountSyncOptions): Promise<AccountSyncResult> {
  const { file, budget = null, signal } = options;
  const { account: _account, credential: _token, user: _user, onLowSpace: _warned, ...shared } = options;
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

export interface LinkedCatalogueOptions
  extends Omit<SyncOptions, "account" | "area" | "brands" | "depth" | "follow" | "only" | "order" | "user"> {
  /** The mirror of the account, whose bras have the links. */
  readonly accountFile: string;
}

/** Replaces options of the account's sync that must not apply to the catalogue. */
const linkedScope = { area: "catalogue", brands: [], follow: [], order: "breadth" } as const;

/**
 * Fetches the brands, models and sizes that an account's bras link to into the catalogue's mirror, so that the account stays
 * readable without the service. Resources found on the way, such as the brand of a model, follow in the next run.
 * @returns null if the bras link to nothing
 * @throws RangeError for a user's token; otherwise as `sync`
 */
export async function syncLinkedCatalogue({
  accountFile,
  ...options
}: LinkedCatalogueOptions): Promise<SyncReport | null> {
  if (options.credential?.kind === "token")
    throw new RangeError("credential must be the catalogue's own, not a user's token");
  const { clock = systemClock } = options;
  await linkCatalogue({ file: accountFile, kinds, openedAt: toIso(clock.now()) });
  const only = findLinkedEntities(accountFile, options.file).map(({ url, kind }) => ({ url, kind }));
  return only.length === 0 ? null : await sync({ ...options, ...linkedScope, only });
}
