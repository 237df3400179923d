/** Reads the plan or the forecast of a mirror with the settings of a command. */
import { type OwedChecks, readOwedChecks } from "../sync/plan/owed-checks.ts";
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

/** A mirror, its service, and the resources to fetch. */
export interface SyncTarget extends RequestedScope {
  readonly file: string;
  readonly baseUrl: string;
}

export interface PlanTarget extends SyncTarget, Pick<PlanOptions, "budget" | "reserve"> {}

type OutlookTarget = Pick<SyncTarget, "file" | "baseUrl"> & Partial<RequestedScope>;

/** @throws CliError, ServiceSettingsError, LedgerError, and MirrorError, also for damage that is found while reading */
export function readPlan(target: PlanTarget, settings: Settings, io: Io): SyncPlan {
  return readWith(planSync, target, settings, io);
}

/** @throws as readPlan does */
export function readOutlook(target: OutlookTarget, settings: Settings, io: Io): ForecastSummary {
  return readWith(readForecastSummary, target, settings, io);
}

/** @throws as readPlan does */
export function readOwed(target: OutlookTarget, settings: Settings, io: Io): OwedChecks | null {
  return readWith(readOwedChecks, target, settings, io);
}

function readWith<Result>(
  read: (options: PlanOptions) => Result,
  target: OutlookTarget & Pick<PlanOptions, "budget" | "reserve">,
  settings: Settings,
  io: Io,
): Result {
  // The allowance of an account is found without its token, so no keychain has to be unlocked.
  const credential = settings.account === null ? readAppCredential(io) : null;
  return read({ ...target, credential, ledgerFile: ledgerFile(settings) });
}
