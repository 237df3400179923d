/** What a command plans from: its settings, and what it was told to go for. */
import {
  type ForecastSummary,
  type PlanOptions,
  planSync,
  readForecastSummary,
  type SyncPlan,
} from "../sync/plan/preview.ts";
import type { RequestedScope } from "./flags/scope-flags.ts";
import { readAppCredential } from "./secrets/credentials.ts";
import { ledgerFile } from "./settings/mirror-file.ts";
import type { Settings } from "./settings/settings.ts";
import type { Io } from "./terminal/io.ts";

/** Which mirror, from where, and how to walk. */
export interface Wanted extends RequestedScope {
  readonly file: string;
  readonly baseUrl: string;
}

/** And what it may spend. */
export interface WantedPlan extends Wanted, Pick<PlanOptions, "budget" | "reserve"> {}

type ForOutlook = Pick<Wanted, "file" | "baseUrl"> & Partial<RequestedScope>;

/** @throws CliError, ServiceSettingsError, LedgerError, and MirrorError, also where damage shows only while the file is read */
export function readPlan(wanted: WantedPlan, settings: Settings, io: Io): SyncPlan {
  return readWith(planSync, wanted, settings, io);
}

/** @throws as readPlan does */
export function readOutlookOf(wanted: ForOutlook, settings: Settings, io: Io): ForecastSummary {
  return readWith(readForecastSummary, wanted, settings, io);
}

function readWith<Result>(
  read: (options: PlanOptions) => Result,
  wanted: ForOutlook & Pick<PlanOptions, "budget" | "reserve">,
  settings: Settings,
  io: Io,
): Result {
  // An account's ledger knows its token's allowance without the token, for which a keychain might have to be unlocked.
  const credential = settings.account === null ? readAppCredential(io) : null;
  return read({ ...wanted, credential, ledgerFile: ledgerFile(settings) });
}
