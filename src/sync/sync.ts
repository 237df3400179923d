/**
 * One sync, as data flows: the frontier gives due resources, the engine carries out fetch jobs through the door, ingest
 * commits what came back, and the frontier is asked again, until nothing is due or nothing may be asked. In: where to
 * and how far. Out: a report. Whatever stops it, what was fetched is in the mirror.
 */
import { existsSync } from "node:fs";
import { RedisError } from "../../jobs/bullmq/errors.ts";
import { createEngine } from "../../jobs/engine.ts";
import { createJobExecutor } from "../../jobs/fetch-job.ts";
import type { CatalogueLink } from "../mirror/account/catalogue-links.ts";
import type { AccountUser } from "../mirror/account/user.ts";
import { toMirrorError } from "../mirror/file/errors.ts";
import { readMirrorId } from "../mirror/file/meta.ts";
import { removeEmptyMirror } from "../mirror/remove-empty-mirror.ts";
import { type Clock, systemClock, toIso } from "../platform/clock.ts";
import { readOriginOrThrow } from "../service/base-url.ts";
import type { Credential } from "../service/credentials/credential.ts";
import { SyncError } from "./errors.ts";
import { resolveOptions, type ScopeOptions, type SyncScope } from "./options.ts";
import { ledgerFileBeside } from "./rate-limit/ledger-file.ts";
import type { SyncProgress, SyncReport } from "./report.ts";
import { createGracefulStop } from "./run/graceful-stop.ts";
import { identifyTokenOwner } from "./run/identify-user.ts";
import { publishMetrics } from "./run/publish-metrics.ts";
import { openRateLimitedClient } from "./run/rate-limited-client.ts";
import { stopOnFatal } from "./run/run-stop.ts";
import { SyncRun } from "./run/sync-run.ts";
import { throttleConditionalRequests } from "./run/throttle-checks.ts";
import { reachWorkers, type Workers, type WorkersOptions, workersConcurrency } from "./workers.ts";
import { openRunMirror } from "./writer/client.ts";

export interface SyncOptions extends ScopeOptions {
  /** The mirror's file; made when there is none. */
  readonly file: string;
  readonly baseUrl: string;
  /** The vendor's word in `<name>_url`; `service` unless told. */
  readonly serviceName?: string;
  /** For an account, the token of its user. */
  readonly credential?: Credential | null;
  /** Of an account: the user that it must be, before the mirror itself says so. */
  readonly user?: AccountUser;
  /** Only these, which may be links that nothing in the mirror has led to yet; all that the walk meets unless told. */
  readonly only?: readonly CatalogueLink[];
  /** Counted requests at most in this run; null for as many as the service grants. */
  readonly budget?: number | null;
  /** Makes tombstones even where more than a fifth of a list is absent at once; not unless told. */
  readonly approve?: boolean;
  /** Requests of the allowance to leave for others; none unless told. */
  readonly reserve?: number;
  /** What each allowance has left, shared by all mirrors that spend it; `ledger.sqlite` beside the mirror unless told. */
  readonly ledgerFile?: string;
  /** Requests are sent by workers instead of by this process; not unless told. */
  readonly workers?: WorkersOptions | null;
  /** Requests under way at a time; 4 unless told, 64 with workers. */
  readonly concurrency?: number;
  /** Ends the run early: what is under way is finished and saved. */
  readonly signal?: AbortSignal;
  /** Called after each batch; reading the progress costs a query, so it is read only when it is shown. */
  readonly onProgress?: (read: () => SyncProgress) => void;
  readonly clock?: Clock;
}

/**
 * Brings a mirror up to date.
 * @throws MirrorError when the mirror cannot be used, SyncError when nothing could be fetched or the credential is not
 * accepted, ServiceSettingsError when the base URL or credential is malformed, RedisError when workers cannot be reached
 */
export async function sync(options: SyncOptions): Promise<SyncReport> {
  readOriginOrThrow(options.baseUrl);
  const walk = resolveOptions(options);
  // Reached first, so that what cannot be synced leaves no mirror behind.
  const workers = options.workers ? await reachWorkers(options.workers) : null;
  try {
    return await syncHere(options, walk, workers);
  } finally {
    workers?.close();
  }
}

async function syncHere(options: SyncOptions, walk: SyncScope, workers: Workers | null): Promise<SyncReport> {
  const { file, baseUrl, clock = systemClock, credential = null } = options;
  const { concurrency = workers ? workersConcurrency : 4 } = options;
  const { budget = null, reserve = 0, approve = false, only = null, onProgress = () => {} } = options;
  const openedAt = toIso(clock.now());
  const isNew = !existsSync(file);
  let isInVain = false;
  const mirror = await openRunMirror({
    file,
    identity: {
      baseUrl: new URL(baseUrl).href,
      area: walk.area,
      serviceName: options.serviceName ?? "service",
    },
    openedAt,
  });
  try {
    const context = { file, lineage: readMirrorId(mirror.reader.db), baseUrl, credential, clock };
    const sender = workers && (await workers.openSender(context));
    const state = workers?.openState(context);
    // Opened once the mirror is there to be filled: what cannot be synced leaves no ledger behind.
    const { service, allowance, close } = openRateLimitedClient({
      baseUrl,
      credential,
      budget,
      keep: reserve,
      connections: concurrency,
      sender,
      clock,
      ledgerFile: options.ledgerFile ?? ledgerFileBeside(file),
    });
    const interruption = createGracefulStop(options.signal);
    try {
      const isOwn = walk.area === "account";
      const carryOut = stopOnFatal(createJobExecutor(service, clock.now), {
        rootUrl: new URL(baseUrl).href,
        isOwn,
        now: clock.now,
      });
      const plainEngine = createEngine(throttleConditionalRequests(carryOut, clock), { concurrency });
      const told = state && publishMetrics(state, plainEngine, { mirror: mirror.reader, allowance, clock });
      const engine = told?.engine ?? plainEngine;
      const perform = async (): Promise<SyncReport> => {
        const introduction = isOwn
          ? await identifyTokenOwner(mirror, carryOut, { ...walk, user: options.user }, interruption.cancel)
          : null;
        const request = { ...walk, only, budget, concurrency, approve, onProgress };
        return await SyncRun.perform(request, {
          mirror,
          engine,
          service,
          allowance,
          interruption,
          clock,
          introduction,
        });
      };
      const report = await perform().catch(async (error: unknown) => {
        await told?.end(null);
        throw error;
      });
      await told?.end(report);
      return report;
    } finally {
      interruption.end();
      await close();
    }
  } catch (error) {
    isInVain = error instanceof SyncError || error instanceof RedisError;
    throw toMirrorError(error, file);
  } finally {
    await mirror.close();
    if (isNew && isInVain) removeEmptyMirror(file, openedAt);
  }
}
