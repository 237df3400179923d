/**
 * Plans a sync: the next requests, their cost, and the time to a complete copy. It reads the mirror and the ledger,
 * and sends no request.
 */
import { existsSync } from "node:fs";
import { kinds } from "../../../jobs/kinds.ts";
import type { Area } from "../../../schema/kind.ts";
import { resourceKey } from "../../../schema/views/resource-key.ts";
import type { Connection } from "../../mirror/file/connection.ts";
import { findBrands } from "../../mirror/find-brands.ts";
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { readPostponed } from "../../mirror/runs/postponed.ts";
import { listRuns } from "../../mirror/runs/run-log.ts";
import type { Scope } from "../../mirror/scope.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { requireWholeNumbers } from "../../platform/errors.ts";
import type { Credential } from "../../service/credentials/credential.ts";
import {
  kindsInScope,
  requireKnownBrands,
  resolveOptions,
  type ScopeOptions,
  type SyncScope,
} from "../options.ts";
import {
  type AllowanceSummary,
  type KnownAllowance,
  readLatest,
  readLedger,
  summarizeAllowance,
} from "../rate-limit/known-allowance.ts";
import { readEarlierRefusal } from "../rate-limit/refusals/earlier-refusal.ts";
import { ledgerFileBeside } from "../rate-limit/store/ledger-file.ts";
import { countDue, type DueCount, hasAmpleAllowance, readCurrentCycle } from "./counts.ts";
import { type AccountForecast, type Forecast, forecastAccount, forecastFrom } from "./forecast.ts";
import { orderPages } from "./page-order.ts";
import { createPlanner, type Planner } from "./planner.ts";
import { readForecastFacts } from "./queries/catalogue-facts.ts";
import { type ConfirmationPlan, planConfirmation } from "./queries/confirmation.ts";
import { preparePlanReads, readOnce } from "./queries/plan-reads.ts";
import { expectFreeChecks, type PlanAllowance, type PlanRequest, type Reason } from "./request.ts";

/** What the next sync fetches, and what that costs. */
export interface SyncPlan extends ForecastSummary {
  readonly area: Area;
  /** The mirror's file. */
  readonly mirror: string;
  /** Due resources by kind, as far as is known; each fetch may lead to more. */
  readonly due: readonly DueCount[];
  /** Counted requests that a run may send now: the remaining ones above the reserve, within the budget; null if unknown. */
  readonly spendable: number | null;
  /** The first ten requests. */
  readonly next: readonly NextRequest[];
  /** Why the service refused the last run, so that the next one sends nothing; absent while requests may be sent. */
  readonly refusal?: string;
  /** Resources that the service asked to request later, each for itself: they are neither due nor next. */
  readonly postponed: readonly {
    readonly url: string;
    readonly kind: string;
    /** ISO 8601, UTC. */
    readonly retryAt: string;
  }[];
  /** Only if something was loaded from a snapshot. */
  readonly confirmation?: ConfirmationPlan;
  /** For an account, instead of `forecast`; null for a catalogue. */
  readonly accountForecast: AccountForecast | null;
}

interface NextRequest {
  /** As it will be requested. */
  readonly url: string;
  /** What `armoire show` takes; null for lists, and while its slug is unknown. */
  readonly key: string | null;
  readonly kind: string;
  readonly reason: Reason;
}

export interface PlanOptions extends ForecastSummaryOptions {
  /** At most so many counted requests. Default: null, as many as the service grants. */
  readonly budget?: number | null;
  /** Requests of the allowance to leave unspent. Default: 0. */
  readonly reserve?: number;
}

const maxNext = 10;

/**
 * Plans a sync offline.
 * @throws RangeError for an option out of its range, MirrorError, LedgerError; SyncError `unknown-brand` if the sync would throw it without a request
 */
export function planSync(options: PlanOptions): SyncPlan {
  const { file, baseUrl, budget, reserve } = options;
  requireWholeNumbers(0, { budget, reserve });
  const planned = { ...options, scope: resolveOptions(options), known: readAllowance(options) };
  if (existsSync(file)) return readMirror(file, (mirror) => planFor(mirror, planned));
  const root = { url: new URL(baseUrl).href, key: null, kind: "root", reason: "root" } as const;
  return planFrom(null, planned, [{ kind: "root", fetch: 1, check: 0, freeChecks: 0 }], [root], []);
}

/**
 * The same for an open mirror of a catalogue, with the allowance of the credential that was used last.
 * @throws MirrorError, LedgerError
 */
export function planOfMirror(mirror: MirrorReader, ledgerFile: string, clock: Clock): SyncPlan {
  const { file, identity } = mirror;
  const { baseUrl, area } = identity;
  const known = readLatest(ledgerFile, new URL(baseUrl).origin, clock.now());
  return planFor(mirror, { file, baseUrl, area, clock, known, scope: resolveOptions({ area }) });
}

interface Planned extends PlanOptions {
  readonly scope: SyncScope;
  readonly known: KnownAllowance | null;
}

function planFor(mirror: MirrorReader, planned: Planned): SyncPlan {
  const { scope, known, clock = systemClock, budget = null } = planned;
  requireKnownBrands(mirror, scope.brands, clock.now());
  const request = planRequestOf(mirror, scope, { known, budget }, clock);
  const reads = readOnce(preparePlanReads(mirror.db, request));
  const planner = orderPages(createPlanner(mirror.db, request, reads), mirror.db, request);
  const postponed = readPostponed(mirror.db, clock.now());
  const next = takeNext(planner, mirror.db, new Set(postponed.map(({ id }) => id)));
  const plan = planFrom(
    mirror.db,
    planned,
    countDue(mirror.db, request, reads.checks),
    next,
    postponed.map(({ url, kind, retryAt }) => ({ url, kind, retryAt })),
  );
  const refusal = known?.remaining === 0 ? readEarlierRefusal(mirror, known) : null;
  return refusal === null ? plan : { ...plan, refusal };
}

/** @param db null before the first sync */
function planFrom(
  db: Connection | null,
  planned: Planned,
  due: readonly DueCount[],
  next: readonly NextRequest[],
  postponed: SyncPlan["postponed"],
): SyncPlan {
  const { scope, known, file, budget = null, reserve = 0 } = planned;
  const { area } = scope;
  const allowance = planAllowanceOf(known, budget);
  const maxFreeChecks = expectFreeChecks({ ...scope, allowance });
  const confirmation = db && planConfirmation(db, { ...scope, maxFreeChecks, allowance });
  return {
    area,
    mirror: file,
    due,
    spendable: spendableOf(known?.remaining ?? null, budget, reserve),
    next,
    postponed,
    ...(confirmation && { confirmation }),
    accountForecast: area === "account" ? forecastAccount(due, known) : null,
    ...forecastSummaryOf(db, scope, known, planned),
  };
}

function takeNext(planner: Planner, db: Connection, postponed: ReadonlySet<number>): NextRequest[] {
  // Raw: an expression that views share.
  const selectKey = db
    .prepare<[number], string | null>(`select ${resourceKey("r")} from _resource r where r.id = ?`)
    .pluck();
  const next: NextRequest[] = [];
  const taken = new Set(postponed);
  while (next.length < maxNext) {
    const missing = maxNext - next.length;
    const planned = planner.take(missing, (id) => taken.has(id));
    if (planned.length === 0) break;
    for (const { id, url, kind, reason } of planned.slice(0, missing)) {
      taken.add(id);
      next.push({ url, key: selectKey.get(id) ?? null, kind, reason });
    }
  }
  return next;
}

function spendableOf(remaining: number | null, budget: number | null, reserve: number): number | null {
  const left = remaining === null ? null : Math.max(0, remaining - reserve);
  if (budget === null || left === null) return left ?? budget;
  return Math.min(left, budget);
}

export function planRequestOf(
  mirror: MirrorReader,
  syncScope: SyncScope,
  { known, budget }: { readonly known: KnownAllowance | null; readonly budget: number | null },
  clock: Clock,
): PlanRequest {
  const { mode } = syncScope;
  const scope = scopeOf(mirror, syncScope);
  const runId = (listRuns(mirror, 1)[0]?.id ?? 0) + 1;
  const isCycle = mode !== "incremental" && scope.belowIds === null;
  const cycle = isCycle ? readCurrentCycle(mirror.db, scope, mode) : null;
  const allowance = planAllowanceOf(known, budget);
  const maxFreeChecks = expectFreeChecks({ ...syncScope, allowance });
  const request = { ...syncScope, maxFreeChecks, scope, runId, now: clock.now, allowance };
  return { ...request, cycleRun: cycle?.run ?? runId };
}

const planAllowanceOf = (known: KnownAllowance | null, budget: number | null) => (): PlanAllowance => ({
  isAmple: known !== null && hasAmpleAllowance(known, budget),
  checkPrice: known?.checkPrice ?? "free",
});

function scopeOf(mirror: MirrorReader, { area, depth, brands, follow }: SyncScope): Scope {
  const found = brands.map((brand) => findBrands(mirror, brand));
  // An unknown brand is searched in the list first.
  if (found.some(({ certainty }) => certainty === "none"))
    return { kinds: ["root", "brands"], belowIds: null };
  const ids = found.flatMap((match) => (match.certainty === "none" ? [] : match.ids));
  return {
    kinds: kindsInScope(kinds, area, depth, follow),
    belowIds: brands.length === 0 ? null : ids,
  };
}

/** The allowance and the forecast: part of a plan, and shown without one by `status` and after a sync. */
export interface ForecastSummary {
  /** As the ledger knows it; null before the first request. */
  readonly allowance: AllowanceSummary | null;
  /** Null until the list of brands is read: before, the size of the catalogue is unknown. */
  readonly forecast: Forecast | null;
}

export interface ForecastSummaryOptions extends ScopeOptions {
  /** The mirror's file. */
  readonly file: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** Whose allowance is read. Default: null, that without a credential. */
  readonly credential?: Credential | null;
  /** Default: `ledger.sqlite` beside the mirror. */
  readonly ledgerFile?: string;
  readonly clock?: Clock;
}

/**
 * Reads the allowance from the ledger, and forecasts from the mirror when all is held, offline.
 * @throws MirrorError, LedgerError
 */
export function readForecastSummary(options: ForecastSummaryOptions): ForecastSummary {
  const scope = resolveOptions(options);
  const known = readAllowance(options);
  if (!existsSync(options.file)) return forecastSummaryOf(null, scope, known, options);
  return readMirror(options.file, ({ db }) => forecastSummaryOf(db, scope, known, options));
}

/**
 * The same for an open mirror of a catalogue, with the allowance of the credential that was used last.
 * @param now epoch milliseconds
 * @throws LedgerError
 */
export function forecastOfMirror(
  { db, identity }: MirrorReader,
  ledgerFile: string,
  now: number,
): ForecastSummary {
  const { baseUrl, area } = identity;
  const known = readLatest(ledgerFile, new URL(baseUrl).origin, now);
  return forecastSummaryOf(db, resolveOptions({ area }), known, {});
}

/** @throws LedgerError */
export function readAllowance(options: ForecastSummaryOptions): KnownAllowance | null {
  const { file, baseUrl, credential = null, clock = systemClock } = options;
  const ledgerFile = options.ledgerFile ?? ledgerFileBeside(file);
  const { origin } = new URL(baseUrl);
  // All tokens in an account's ledger belong to one user, and the last one is in use.
  return options.area === "account"
    ? readLatest(ledgerFile, origin, clock.now())
    : readLedger(ledgerFile, { origin, credential }, clock.now());
}

/** @param db null before the first sync */
function forecastSummaryOf(
  db: Connection | null,
  scope: SyncScope,
  known: KnownAllowance | null,
  { credential = null }: Pick<ForecastSummaryOptions, "credential">,
): ForecastSummary {
  const facts = db && readForecastFacts(db);
  const documented = credential === null ? "withNone" : "withApp";
  const maxFreeChecks = expectFreeChecks({ ...scope, allowance: planAllowanceOf(known, null) });
  return {
    allowance: known && summarizeAllowance(known),
    forecast: facts && forecastFrom(facts, { ...scope, maxFreeChecks }, known, documented),
  };
}
