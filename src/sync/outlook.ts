/**
 * What the allowance is and how long everything takes, read from the mirror and the ledger alone: what a plan ends with,
 * and what `status` and the end of a sync tell without making one.
 */
import { existsSync } from "node:fs";
import type { Connection } from "../mirror/file/connection.ts";
import { readMirror } from "../mirror/mirror-reader.ts";
import { type Clock, systemClock, toIso } from "../service/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { type KnownAllowance, readLatest, readLedger } from "./ledger/describe-window.ts";
import { ledgerFileBeside } from "./ledger/ledger-file.ts";
import { type Forecast, forecastFrom } from "./plan/forecast-days.ts";
import { readForecastFacts } from "./plan/read-forecast-facts.ts";
import { settleWalk, type Walk, type WalkOptions } from "./walk-options.ts";

export interface Outlook {
  /** What the ledger knows of the allowance; null when nothing was asked yet. */
  readonly allowance: PlannedAllowance | null;
  /** Null until the list of brands was begun: before, nobody knows how large the catalogue is. */
  readonly forecast: Forecast | null;
}

export interface PlannedAllowance {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** ISO 8601, UTC. */
  readonly resetAt: string | null;
}

export interface OutlookOptions extends WalkOptions {
  readonly file: string;
  readonly baseUrl: string;
  readonly credential?: Credential | null;
  /** `ledger.sqlite` beside the mirror unless told. */
  readonly ledgerFile?: string;
  readonly clock?: Clock;
}

/** @throws MirrorError, LedgerError */
export function readOutlook(options: OutlookOptions): Outlook {
  const walk = settleWalk(options);
  const known = readAllowance(options);
  if (!existsSync(options.file)) return outlookOf(null, walk, known, options);
  return readMirror(options.file, ({ db }) => outlookOf(db, walk, known, options));
}

/** @throws LedgerError */
export function readAllowance(options: OutlookOptions): KnownAllowance | null {
  const { file, baseUrl, credential = null, clock = systemClock } = options;
  const ledgerFile = options.ledgerFile ?? ledgerFileBeside(file);
  const { origin } = new URL(baseUrl);
  // The tokens in an account's own ledger are one user's, the last one that was used hers now.
  return options.area === "account"
    ? readLatest(ledgerFile, origin, clock.now())
    : readLedger(ledgerFile, { origin, credential }, clock.now());
}

/** @param db null before the first sync */
export function outlookOf(
  db: Connection | null,
  walk: Walk,
  known: KnownAllowance | null,
  { credential = null }: Pick<OutlookOptions, "credential">,
): Outlook {
  const facts = db && readForecastFacts(db);
  const documented = credential === null ? "withNone" : "withApp";
  return {
    allowance: known && describeAllowance(known),
    forecast: facts && forecastFrom(facts, walk, known, documented),
  };
}

function describeAllowance({ limit, remaining, resetAt }: KnownAllowance): PlannedAllowance {
  return { limit, remaining, resetAt: resetAt === null ? null : toIso(resetAt) };
}
