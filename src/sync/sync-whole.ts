/**
 * An account with all that makes it whole: her data, then what her bras are, then the pictures. In: one set of options, and
 * which of the later parts are wanted. Out: one report. Each part has a credential and an allowance of its own, the budget
 * is one for all; a later part that cannot be done takes nothing from those that can.
 */
import { cataloguePrincipal } from "../accounts/account-name.ts";
import type { Credential } from "../service/credentials/credential.ts";
import type { MediaReport, PictureOrigin } from "./media/media-report.ts";
import { syncMedia } from "./media/sync-media.ts";
import type { SyncReport } from "./report.ts";
import { type SyncOptions, sync } from "./sync.ts";
import { syncLinkedCatalogue } from "./sync-linked-catalogue.ts";

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

export interface WholeOptions extends Omit<SyncOptions, "area" | "only"> {
  /** Not unless told. */
  readonly catalogue?: CataloguePart | null;
  /** Not unless told. */
  readonly media?: MediaPart | null;
}

export interface WholeReport extends SyncReport {
  /** Where it was wanted; null where her bras link to nothing, or it could not be done. */
  readonly catalogue?: SyncReport | null;
  /** Where it was wanted; null where it could not be done. */
  readonly media?: MediaReport | null;
}

export interface WholeSync {
  readonly report: WholeReport;
  /** Why later parts could not be done. */
  readonly errors: readonly unknown[];
}

/** @throws as `sync` does, for her own data */
export async function syncWhole({ catalogue, media, ...options }: WholeOptions): Promise<WholeSync> {
  const { file, budget = null, signal } = options;
  const { credential: _hers, user: _herself, ...shared } = options;
  const workers = options.workers && { workers: { ...options.workers, principal: cataloguePrincipal } };
  const errors: unknown[] = [];
  let report: WholeReport = await sync({ ...options, area: "account" });
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
