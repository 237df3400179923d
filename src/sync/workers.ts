/** Connects a sync to workers: the transport that reaches them through Redis, and what it shows of itself there. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { RequestDescription } from "../../jobs/bullmq/coordinator/request-queue.ts";
import type { RunMetrics } from "../../jobs/bullmq/run-metrics.ts";
import type { RepeatRequests } from "../../jobs/bullmq/runs/repeat-requests.ts";
import type { RunJob } from "../../jobs/bullmq/runs/run-job.ts";
import { cataloguePrincipal } from "../accounts/account-name.ts";
import { type Clock, toIso } from "../platform/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import type { Transport } from "../service/transport/transport.ts";

export interface WorkersOptions {
  /** The address of the workers' Redis: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** Whose credential the workers use: an account's name. Default: `catalogue`. */
  readonly principal?: string;
  /** Makes a span of each job of the catalogue. Needs `bullmq-otel`, and an OpenTelemetry SDK. Default: false. */
  readonly telemetry?: boolean;
  /** Receives problems that an operator may need to act on: no worker is running, Redis is unreachable. */
  readonly onWarning?: (text: string) => void;
}

/** Requests running at a time: enough for eight workers of eight. */
export const workersConcurrency = 64;

export interface WorkersContext {
  /** The mirror's file. */
  readonly file: string;
  /** Distinguishes mirrors at the same path on several machines. */
  readonly mirrorId: string | null;
  readonly baseUrl: string;
  readonly credential: Credential | null;
  readonly clock: Clock;
  /** What a person who reads the queue is told of a request. */
  readonly describe: (url: string) => RequestDescription;
}

export interface Workers {
  /** To be called once the mirror is locked: responses go to the one process that writes it. */
  openTransport(context: WorkersContext): Promise<Transport>;
  openMetrics(context: WorkersContext): RunMetrics;
  /** The job that shows the run. Warnings go to its log, too, unless the run is about a person. */
  openRunJob(context: WorkersContext, run: { readonly name: string; readonly data: object }): RunJob;
  openRepeatRequests(context: WorkersContext): RepeatRequests;
  close(): void;
}

/** @throws RedisError, TelemetryError */
export async function reachWorkers(options: WorkersOptions): Promise<Workers> {
  const { principal = cataloguePrincipal } = options;
  const isPrivate = principal !== cataloguePrincipal;
  // Loaded only when needed.
  const [{ connectRedis }, { openRedisTransport }, { openRunMetrics }] = await Promise.all([
    import("../../jobs/bullmq/redis.ts"),
    import("../../jobs/bullmq/coordinator/redis-transport.ts"),
    import("../../jobs/bullmq/run-metrics.ts"),
  ]);
  const [{ openRunJob }, { openRunQueue }, { openRepeatRequests }, { loadTelemetry }] = await Promise.all([
    import("../../jobs/bullmq/runs/run-job.ts"),
    import("../../jobs/bullmq/runs/run-queue.ts"),
    import("../../jobs/bullmq/runs/repeat-requests.ts"),
    import("../../jobs/bullmq/queues.ts"),
  ]);
  let runJob: RunJob | null = null;
  const onWarning = (text: string): void => {
    options.onWarning?.(text);
    if (!isPrivate) runJob?.log(text);
  };
  const telemetry = options.telemetry ? await loadTelemetry() : undefined;
  const redis = { ...(await connectRedis(options.redis, onWarning)), telemetry };
  const as = ({ baseUrl, credential }: WorkersContext) => ({ name: principal, baseUrl, credential });
  return {
    openTransport: (context) =>
      openRedisTransport({
        redis,
        principal: as(context),
        clock: context.clock,
        onWarning,
        mirrorKey: mirrorKeyOf(context),
        describe: context.describe,
        isPrivate,
        onPause: (until) => runJob?.log(`paused until ${toIso(until)}: the service asked to wait`),
      }),
    openMetrics: (context) =>
      openRunMetrics(redis.client, as(context), mirrorKeyOf(context), context.clock.now),
    openRunJob(context, run) {
      runJob = openRunJob({
        ...{ client: redis.client, queue: openRunQueue(redis, as(context)), clock: context.clock },
        ...run,
      });
      return runJob;
    },
    openRepeatRequests(context) {
      const repeats = openRepeatRequests(redis.client, mirrorKeyOf(context));
      return {
        ...repeats,
        remove(urls) {
          for (const url of urls) runJob?.log(`planned again, as asked: ${url}`);
          return repeats.remove(urls);
        },
      };
    },
    close: redis.end,
  };
}

/** Identifies this mirror on this machine without naming either. */
export function mirrorKeyOf({ file, mirrorId }: Pick<WorkersContext, "file" | "mirrorId">): string {
  return createHash("sha256")
    .update(`${mirrorId}\0${hostname()}\0${resolve(file)}`)
    .digest("hex")
    .slice(0, 16);
}
