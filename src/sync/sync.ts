/**
 * One sync, as data flows: the frontier gives due resources, the engine carries out fetch jobs through the door, ingest
 * commits what came back, and the frontier is asked again, until nothing is due or nothing may be asked. In: where to
 * and how far. Out: a report. Whatever stops it, what was fetched is in the mirror.
 */
import { existsSync } from "node:fs";
import { fetchJobRunner } from "../../jobs/fetch-job.ts";
import { inlineEngine } from "../../jobs/inline/inline-engine.ts";
import { type Depth, depths } from "../../schema/kind.ts";
import { toMirrorError } from "../mirror/errors.ts";
import type { MirrorReader } from "../mirror/mirror.ts";
import { removeEmptyMirror } from "../mirror/remove-empty-mirror.ts";
import { type Clock, systemClock } from "../service/clock.ts";
import type { Credential } from "../service/credential.ts";
import { openService } from "../service/service.ts";
import { createRunAllowance } from "./allowance.ts";
import { watchInterruption } from "./interruption.ts";
import { openRunMirror } from "./mirror-thread.ts";
import type { SyncProgress } from "./progress.ts";
import type { SyncReport } from "./report.ts";
import { stopAtOnce } from "./stop-at-once.ts";
import { SyncError } from "./sync-error.ts";
import { SyncRun } from "./sync-run.ts";

export interface SyncOptions {
  /** The mirror's file; made when there is none. */
  readonly file: string;
  readonly baseUrl: string;
  /** The vendor's word in `<name>_url`; `service` unless told. */
  readonly serviceName?: string;
  readonly credential?: Credential | null;
  /** `sizes` unless told. */
  readonly depth?: Depth;
  /** Only these brands, by listed name or slug; all when empty. */
  readonly brands?: readonly string[];
  /** Links to follow that are else only noted, such as `related`, `same_cut`, `adjacent_sizes`. */
  readonly follow?: readonly string[];
  /** Counted requests at most in this run; null for as many as the service grants. */
  readonly budget?: number | null;
  /** Requests under way at a time; 4 unless told. */
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
 * accepted, ServiceSettingsError when the base URL or credential is malformed
 */
export async function sync(options: SyncOptions): Promise<SyncReport> {
  const { baseUrl, depth = "sizes", clock = systemClock, concurrency = 4, credential = null } = options;
  if (!depths.includes(depth)) throw new RangeError(`depth is one of ${depths.join(", ")}, not ${depth}`);
  const allowance = createRunAllowance(options.budget ?? null, clock.now);
  const service = openService({
    baseUrl,
    credential,
    reserve: allowance.reserve,
    connections: concurrency,
    clock,
  });
  const interruption = watchInterruption(options.signal);
  const isNew = !existsSync(options.file);
  let isEmpty = false;
  try {
    const mirror = await openRunMirror({
      file: options.file,
      identity: {
        baseUrl: new URL(baseUrl).href,
        area: "catalogue",
        serviceName: options.serviceName ?? "service",
      },
      openedAt: new Date(clock.now()).toISOString(),
    });
    try {
      const engine = inlineEngine(
        stopAtOnce(fetchJobRunner(service, clock.now), new URL(baseUrl).href, clock.now),
        { concurrency },
      );
      const { brands = [], follow = [], onProgress = () => {} } = options;
      const request = { depth, brands, follow, onProgress };
      return await SyncRun.perform(request, { mirror, engine, allowance, interruption, clock });
    } catch (error) {
      isEmpty = error instanceof SyncError && holdsNothing(mirror.reader);
      throw toMirrorError(error, options.file);
    } finally {
      await mirror.close();
      if (isNew && isEmpty) removeEmptyMirror(options.file);
    }
  } finally {
    interruption.end();
    await service.close();
  }
}

function holdsNothing({ db }: MirrorReader): boolean {
  return db.prepare("select 1 from _revision limit 1").get() === undefined;
}
