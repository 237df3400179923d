/**
 * What a sync would ask for next, what that costs, and how long it takes until everything is held: read from the mirror
 * and the ledger alone, without one request.
 */
import { existsSync } from "node:fs";
import { kinds } from "../../../jobs/kinds.ts";
import type { Area } from "../../../schema/kind.ts";
import type { Scope } from "../../mirror/check-cycle.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { findBrands } from "../../mirror/find-brands.ts";
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { listRuns } from "../../mirror/runs/runs.ts";
import { type Clock, systemClock, toIso } from "../../platform/clock.ts";
import type { Credential } from "../../service/credentials/credential.ts";
import {
  kindsInScope,
  requireKnownBrands,
  resolveOptions,
  type ScopeOptions,
  type SyncScope,
} from "../options.ts";
import { ledgerFileBeside } from "../rate-limit/file/ledger-file.ts";
import { type KnownAllowance, readLatest, readLedger } from "../rate-limit/known-allowance.ts";
import { type AccountForecast, forecastAccount } from "./account-plan.ts";
import { countDue, type DueCount, hasAmpleAllowance, readCurrentCycle } from "./counts.ts";
import { type Forecast, forecastFrom, readForecastFacts } from "./forecast.ts";
import { createPlanner } from "./planner.ts";
import type { PlanRequest, Reason } from "./request.ts";

export interface SyncPlan extends ForecastSummary {
  readonly area: Area;
  readonly mirror: string;
  /** What is due as far as the mirror knows; each fetch may lead to more. */
  readonly due: readonly DueCount[];
  /** Counted requests that a run may spend now: what is left but for the reserve, within the budget; null when nobody knows. */
  readonly spendable: number | null;
  /** The first that would be asked for, and why. */
  readonly next: readonly { readonly url: string; readonly kind: string; readonly reason: Reason }[];
  /** Of an account, in place of `forecast`; null for the catalogue. */
  readonly accountForecast: AccountForecast | null;
}

export interface PlanOptions extends ForecastSummaryOptions {
  /** Counted requests at most in the run; null for as many as the service grants. */
  readonly budget?: number | null;
  /** Requests of the allowance to leave for others; none unless told. */
  readonly reserve?: number;
}

const shownNext = 10;

/** @throws MirrorError, LedgerError; SyncError `unknown-brand` where the sync would do so without asking */
export function planSync(options: PlanOptions): SyncPlan {
  const { file, baseUrl, clock = systemClock, budget = null, reserve = 0 } = options;
  const walk = resolveOptions(options);
  const { area } = walk;
  const known = readAllowance(options);
  const spendable = spendableOf(known?.remaining ?? null, budget, reserve);
  const accountForecastOf = (due: readonly DueCount[]) =>
    area === "account" ? forecastAccount(due, known) : null;
  if (!existsSync(file)) {
    const due = [{ kind: "root", fetch: 1, check: 0, freeChecks: 0 }];
    return {
      area,
      mirror: file,
      spendable,
      due,
      accountForecast: accountForecastOf(due),
      next: [{ url: new URL(baseUrl).href, kind: "root", reason: "root" }],
      ...forecastSummaryOf(null, walk, known, options),
    };
  }
  return readMirror(file, (mirror) => {
    requireKnownBrands(mirror, walk.brands, clock.now());
    const request = planRequestOf(mirror, walk, { known, budget }, clock);
    const due = countDue(mirror.db, request);
    const planner = createPlanner(mirror.db, request);
    const next: SyncPlan["next"][number][] = [];
    const taken = new Set<number>();
    while (next.length < shownNext) {
      const shown = shownNext - next.length;
      const planned = planner.take(shown, (id) => taken.has(id));
      if (planned.length === 0) break;
      for (const { id, url, kind, reason } of planned.slice(0, shown)) {
        taken.add(id);
        next.push({ url, kind, reason });
      }
    }
    return {
      area,
      mirror: file,
      due,
      spendable,
      next,
      accountForecast: accountForecastOf(due),
      ...forecastSummaryOf(mirror.db, walk, known, options),
    };
  });
}

function spendableOf(remaining: number | null, budget: number | null, reserve: number): number | null {
  const left = remaining === null ? null : Math.max(0, remaining - reserve);
  if (budget === null || left === null) return left ?? budget;
  return Math.min(left, budget);
}

function planRequestOf(
  mirror: MirrorReader,
  walk: SyncScope,
  { known, budget }: { readonly known: KnownAllowance | null; readonly budget: number | null },
  clock: Clock,
): PlanRequest {
  const { mode } = walk;
  const scope = scopeOf(mirror, walk);
  const runId = (listRuns(mirror, 1)[0]?.id ?? 0) + 1;
  const isCycle = mode !== "incremental" && scope.belowIds === null;
  const cycle = isCycle ? readCurrentCycle(mirror.db, scope, mode) : null;
  const allowance = () => ({
    isAmple: known !== null && hasAmpleAllowance(known, budget),
    checkPrice: known?.checkPrice ?? "free",
  });
  return { ...walk, scope, runId, cycleRun: cycle?.run ?? runId, now: clock.now, allowance };
}

function scopeOf(mirror: MirrorReader, { area, depth, brands, follow }: SyncScope): Scope {
  const found = brands.map((brand) => findBrands(mirror, brand));
  // A brand that is not known yet is looked for in the listing first.
  if (found.some(({ certainty }) => certainty === "none")) {
    return { kinds: ["root", "brands"], belowIds: null };
  }
  const ids = found.flatMap((one) => (one.certainty === "none" ? [] : one.ids));
  return {
    kinds: kindsInScope(kinds, area, depth, follow),
    belowIds: brands.length === 0 ? null : ids,
  };
}

/**
 * What the allowance is and how long everything takes, read from the mirror and the ledger alone: what a plan ends with,
 * and what `status` and the end of a sync tell without making one.
 */

export interface ForecastSummary {
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

export interface ForecastSummaryOptions extends ScopeOptions {
  readonly file: string;
  readonly baseUrl: string;
  readonly credential?: Credential | null;
  /** `ledger.sqlite` beside the mirror unless told. */
  readonly ledgerFile?: string;
  readonly clock?: Clock;
}

/** @throws MirrorError, LedgerError */
export function readForecastSummary(options: ForecastSummaryOptions): ForecastSummary {
  const walk = resolveOptions(options);
  const known = readAllowance(options);
  if (!existsSync(options.file)) return forecastSummaryOf(null, walk, known, options);
  return readMirror(options.file, ({ db }) => forecastSummaryOf(db, walk, known, options));
}

/** @throws LedgerError */
export function readAllowance(options: ForecastSummaryOptions): KnownAllowance | null {
  const { file, baseUrl, credential = null, clock = systemClock } = options;
  const ledgerFile = options.ledgerFile ?? ledgerFileBeside(file);
  const { origin } = new URL(baseUrl);
  // The tokens in an account's own ledger are one user's, the last one that was used hers now.
  return options.area === "account"
    ? readLatest(ledgerFile, origin, clock.now())
    : readLedger(ledgerFile, { origin, credential }, clock.now());
}

/** @param db null before the first sync */
export function forecastSummaryOf(
  db: Connection | null,
  walk: SyncScope,
  known: KnownAllowance | null,
  { credential = null }: Pick<ForecastSummaryOptions, "credential">,
): ForecastSummary {
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
