/**
 * One sync: the planner takes due resources from the mirror, the engine executes fetch jobs through the client, ingest
 * commits the results, and the planner continues until nothing is due or the allowance is spent. In: a mirror, a base
 * URL, a scope. Out: a report. Even if it is stopped, everything fetched is in the mirror.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { RedisError } from "../../jobs/bullmq/errors.ts";
import { createEngine } from "../../jobs/engine.ts";
import { createJobExecutor } from "../../jobs/fetch-job.ts";
import type { Account } from "../accounts/account.ts";
import { requireSameAccount } from "../accounts/accounts.ts";
import { findScopeList } from "../mirror/absence/refused-scopes.ts";
import type { CatalogueLink } from "../mirror/account/catalogue-links.ts";
import type { AccountUser } from "../mirror/account/user.ts";
import { removeEmptyMirror } from "../mirror/file/create-mirror.ts";
import { toMirrorError } from "../mirror/file/errors.ts";
import { readMirrorId } from "../mirror/file/meta.ts";
import { readMirror } from "../mirror/reader.ts";
import { type Clock, systemClock, toIso } from "../platform/clock.ts";
import { requireWholeNumbers } from "../platform/errors.ts";
import {
  describeLowSpace,
  type ReadFreeBytes,
  requireFreeSpace,
  workingBytes,
} from "../platform/files/free-space.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { readOriginOrThrow } from "../service/same-origin.ts";
import { createDescriber } from "./describe-resource.ts";
import { SyncError } from "./errors.ts";
import { resolveOptions, type ScopeOptions, type SyncScope } from "./options.ts";
import { readLedger } from "./rate-limit/known-allowance.ts";
import { createRefusalExaminer } from "./rate-limit/refusals/examine-refusals.ts";
import { createResponseWatch } from "./rate-limit/refusals/watch-responses.ts";
import { ledgerFileBeside } from "./rate-limit/store/ledger-file.ts";
import type { SyncProgress, SyncReport } from "./report.ts";
import { identifyTokenOwner } from "./run/identify-user.ts";
import { publishMetrics } from "./run/publish-metrics.ts";
import { openRateLimitedClient } from "./run/rate-limited-client.ts";
import { RunStop } from "./run/run-stop.ts";
import { SyncRun } from "./run/sync-run.ts";
import { throttleConditionalRequests } from "./run/throttle-checks.ts";
import { describeRun, type ShownRun, showRun } from "./show-run.ts";
import { reachWorkers, type Workers, type WorkersOptions, workersConcurrency } from "./workers.ts";
import { openRunMirror } from "./writer/client.ts";

export interface SyncOptions extends ScopeOptions {
  /** The mirror's file; created if missing. */
  readonly file: string;
  /** The service's root, at which a new mirror begins. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. Default: the mirror's, or `service`. */
  readonly serviceName?: string;
  /** For an account, the token of its user. */
  readonly credential?: Credential | null;
  /** The expected user of a new account mirror. */
  readonly user?: AccountUser;
  /** The account, as it was read: if it was removed since then, nothing is requested or created. */
  readonly account?: Account;
  /** When the user's token was stored, ISO 8601: what the service refused to an earlier one is requested again. */
  readonly tokenAt?: string;
  /** The only resources to fetch, also ones that the mirror does not know. Default: all that the crawl finds. */
  readonly only?: readonly CatalogueLink[];
  /** At most so many counted requests. Default: null, as many as the service grants. */
  readonly budget?: number | null;
  /** Creates tombstones even if more than a fifth of a list is absent at once. Default: false. */
  readonly approve?: boolean;
  /** Requests of the allowance to leave unspent. Default: 0. */
  readonly reserve?: number;
  /** The ledger of allowances, shared by all mirrors that spend them. Default: `ledger.sqlite` beside the mirror. */
  readonly ledgerFile?: string;
  /** Has workers send the requests. Default: null, this process sends. */
  readonly workers?: WorkersOptions | null;
  /** Requests running at a time. Default: 4, or 64 with workers. */
  readonly concurrency?: number;
  /** Ends the run early: running requests are finished and saved. */
  readonly signal?: AbortSignal;
  /** Called after each batch. Reading the progress costs queries, so read it only to show it. */
  readonly onProgress?: (read: () => SyncProgress) => void;
  readonly clock?: Clock;
  /** Called with a warning if the disk of the mirror is nearly full. */
  readonly onLowSpace?: (warning: string) => void;
  /** Reads the free space of a disk. Default: the system's. */
  readonly readFreeBytes?: ReadFreeBytes;
}

/**
 * Brings a mirror up to date.
 * @throws RangeError for an option out of its range, MirrorError when the mirror cannot be used, SyncError when nothing could be fetched or the credential is
 * rejected, AccountError `unknown` if `account` was removed, FileError `disk-full` before anything is requested, ServiceSettingsError when the base URL or credential is malformed, RedisError when workers cannot be reached
 */
export async function sync(options: SyncOptions): Promise<SyncReport> {
  readOriginOrThrow(options.baseUrl);
  const scope = resolveOptions(options);
  requireWholeNumbers(0, { budget: options.budget, reserve: options.reserve });
  requireWholeNumbers(1, { concurrency: options.concurrency });
  const folder = dirname(options.file);
  const free = requireFreeSpace({ folder, bytes: workingBytes, purpose: "A sync" }, options.readFreeBytes);
  const warning = describeLowSpace(folder, free);
  if (warning !== null) options.onLowSpace?.(warning);
  // Reached first: a sync that cannot begin leaves no mirror behind.
  const workers = options.workers ? await reachWorkers(options.workers) : null;
  try {
    return await syncMirror(options, scope, workers);
  } finally {
    workers?.close();
  }
}

/** Null without a mirror. @throws MirrorError */
function serviceNameOf(file: string): string | null {
  return existsSync(file) ? readMirror(file, ({ identity }) => identity.serviceName) : null;
}

async function syncMirror(
  options: SyncOptions,
  scope: SyncScope,
  workers: Workers | null,
): Promise<SyncReport> {
  const { file, baseUrl, clock = systemClock, credential = null, account } = options;
  const { concurrency = Math.max(workers ? workersConcurrency : 4, scope.checkConcurrency) } = options;
  const { budget = null, reserve = 0, approve = false, only = null, onProgress = () => {} } = options;
  const openedAt = toIso(clock.now());
  const isNew = !existsSync(file);
  let isFutile = false;
  let shown: ShownRun | null = null;
  const mirror = await openRunMirror({
    file,
    identity: {
      baseUrl: new URL(baseUrl).href,
      area: scope.area,
      serviceName: options.serviceName ?? serviceNameOf(file) ?? "service",
    },
    openedAt,
    ...(account && { requirePlace: () => requireSameAccount(account) }),
  });
  try {
    const isAccount = scope.area === "account";
    const describe = createDescriber(mirror.reader.db, { isPrivate: isAccount });
    const context = {
      ...{ file, mirrorId: readMirrorId(mirror.reader.db), baseUrl, credential, clock },
      describe: (url: string) => ({
        ...describe(url),
        isFreeIfUnchanged: runBudget.state.checkPrice === "free",
      }),
    };
    if (workers) {
      const run = describeRun(scope, { run: describe(baseUrl).run + 1, budget });
      const job = workers.openRunJob(context, run);
      shown = showRun(job, { mirror: mirror.reader, isAccount, describe, clock });
    }
    const transport = workers && (await workers.openTransport(context));
    const metrics = workers?.openMetrics(context);
    const ledger = options.ledgerFile ?? ledgerFileBeside(file);
    const principal = { origin: new URL(baseUrl).origin, credential };
    const isTokenKnown = readLedger(ledger, principal, clock.now()) !== null;
    // Opened only now: a sync that cannot begin leaves no ledger behind.
    const { client, runBudget, close } = await openRateLimitedClient({
      baseUrl,
      credential,
      budget,
      reserve,
      connections: concurrency,
      transport,
      clock,
      ledgerFile: ledger,
    });
    const rootUrl = new URL(baseUrl).href;
    const runStop = new RunStop({
      rootUrl,
      isAccount,
      isScopeList: (url) => findScopeList(mirror.reader.db, url) !== null,
      signal: options.signal,
      now: clock.now,
    });
    try {
      const examiner = createRefusalExaminer(client, mirror.reader, runBudget, clock);
      const watch = createResponseWatch(examiner, { reader: mirror.reader, runBudget, clock });
      const execute = createJobExecutor(watch, clock.now, runStop);
      const throttled = throttleConditionalRequests(execute, clock, scope.checkConcurrency);
      const ownEngine = createEngine(throttled, { concurrency });
      const plainEngine = shown?.watch(ownEngine) ?? ownEngine;
      const publisher =
        metrics && publishMetrics(metrics, plainEngine, { mirror: mirror.reader, runBudget, clock });
      const engine = publisher?.engine ?? plainEngine;
      const onBatch = (read: () => SyncProgress): void => {
        shown?.update(read);
        onProgress(read);
      };
      const perform = async (): Promise<SyncReport> => {
        const tokenOwner = isAccount
          ? await identifyTokenOwner(
              mirror,
              execute,
              { ...scope, user: options.user, isTokenKnown },
              { signal: runStop.cancel, now: clock.now() },
            )
          : null;
        const { tokenAt = null } = options;
        const request = {
          ...{ ...scope, only, budget, concurrency, approve, tokenAt, onProgress: onBatch },
          credential: credential?.kind ?? ("none" as const),
        };
        const repeats = workers?.openRepeatRequests(context) ?? null;
        const requesting = { client, runBudget, examiner, watch, runStop };
        const tools = { mirror, engine, ...requesting, clock, tokenOwner, repeats };
        return await SyncRun.perform(request, tools);
      };
      const report = await perform().catch(async (error: unknown) => {
        await publisher?.end(null);
        await shown?.fail(error);
        throw error;
      });
      await publisher?.end(report);
      await shown?.end(report, runStop.stop?.message ?? null);
      return report;
    } finally {
      runStop.end();
      await close();
    }
  } catch (error) {
    isFutile = error instanceof SyncError || error instanceof RedisError;
    await shown?.fail(error);
    throw toMirrorError(error, file);
  } finally {
    await mirror.close();
    if (isNew && isFutile) removeEmptyMirror(file, openedAt);
  }
}
