/**
 * The dashboard of a worker, for machines: `/healthz` and `/metrics`. In: a connection to Redis, and the figures of this
 * worker. Out: an HTTP server. While Redis is unreachable, both report that at once. People have `armoire serve --redis`.
 */
import type { Queue } from "bullmq";
import { Hono } from "hono";
import type { Redis } from "ioredis";
import { hasCode, messageOf } from "../../../src/platform/errors.ts";
import { listen } from "../../metrics/listen.ts";
import { prometheusContentType, toPrometheusText } from "../../metrics/metric.ts";
import { readProcessMetrics } from "../../metrics/process-metrics.ts";
import { withTimeout } from "../async.ts";
import { readEach, readJobs } from "../entries/read-entries.ts";
import { DashboardError } from "../errors.ts";
import { isOfOtherVersion } from "../queue-names.ts";
import { createQueueOpener } from "../queues.ts";
import type { RedisConnection } from "../redis.ts";
import type { CredentialProblem } from "../worker/credential-check.ts";
import { type GuardOptions, guard } from "./guard.ts";
import { toMetrics, type WorkerFigures } from "./metrics.ts";
import {
  createPing,
  createSnapshotReader,
  type RedisSnapshot,
  readMemory,
  redisTimeoutMillis,
} from "./redis-snapshot.ts";

export interface DashboardOptions extends GuardOptions {
  /** 0 for any free port. */
  readonly port: number;
}

export interface Dashboard {
  readonly url: string;
  close(): Promise<void>;
}

/** What the worker of a dashboard knows of itself. */
export interface WorkerState extends WorkerFigures {
  /** Why queues give no jobs. */
  readonly queueProblems: readonly string[];
  readonly credentialProblems: Readonly<Record<string, CredentialProblem | null>>;
}

/** @throws DashboardError if it cannot listen */
export async function startDashboard(
  { client, shownAs }: RedisConnection,
  readWorker: () => WorkerState,
  options: DashboardOptions,
): Promise<Dashboard> {
  const openQueues = createQueueOpener(client);
  const readSnapshot = createSnapshotReader(client);
  const isResponding = createPing(client);
  const app = new Hono();
  app.use(guard(options));
  app.onError(({ message }, context) => context.text(`${message}\n`, 500));

  const findRedisProblem = async (): Promise<string | null> => {
    if (!(await isResponding())) return `Redis at ${shownAs} does not respond`;
    return (await withTimeout(redisTimeoutMillis, () => isFull(client)))
      ? `Redis at ${shownAs} is full`
      : null;
  };
  /** A restart of this worker would not help, so these are no problems. */
  const findWarnings = async (): Promise<string[]> => {
    const read = () => readSnapshot().then(countJobs);
    const { queues } = (await withTimeout(redisTimeoutMillis, read)) ?? { queues: [] };
    return queues
      .filter(({ queue, jobs: { waiting = 0 } }) => isOfOtherVersion(queue) && waiting > 0)
      .map(({ queue }) => `jobs wait in ${queue} for workers of another version of Armoire`);
  };
  app.get("/healthz", async (context) => {
    const redisProblem = await findRedisProblem();
    const { acceptsJobs, queueProblems, credentialProblems } = readWorker();
    const namesWith = (problem: CredentialProblem) =>
      Object.keys(credentialProblems).filter((name) => credentialProblems[name] === problem);
    const workerProblems = [
      ...Object.keys(acceptsJobs)
        .filter((name) => !acceptsJobs[name])
        .map((name) => `no jobs are accepted for ${name}`),
      ...queueProblems,
      ...namesWith("refused").map((name) => `the service refuses the credential of ${name}`),
    ];
    const problems = redisProblem === null ? workerProblems : [redisProblem, ...workerProblems];
    const warnings = [
      ...namesWith("unused").map((name) => `requests for ${name} wait for workers with another credential`),
      ...(redisProblem === null ? await findWarnings() : []),
    ];
    return context.json({ ok: problems.length === 0, problems, warnings }, problems.length === 0 ? 200 : 503);
  });

  const countJobs = async ({ queues, ...snapshot }: RedisSnapshot) => ({
    ...snapshot,
    queues: (
      await readEach(openQueues(queues), async (queue) => ({
        queue: queue.name,
        jobs: await queue.getJobCounts("waiting", "active", "delayed", "prioritized"),
        oldestJobAt: await oldestJobAt(client, queue),
      }))
    ).entries,
  });
  app.get("/metrics", async (context) => {
    const redis = (await isResponding())
      ? await withTimeout(redisTimeoutMillis, () => readSnapshot().then(countJobs))
      : null;
    const text = toPrometheusText([...readProcessMetrics(), ...toMetrics(readWorker(), redis, Date.now())]);
    return context.body(text, 200, { "content-type": prometheusContentType });
  });

  const { host, port } = options;
  return await listen(app.fetch, options, (cause) => cannotListen(host, port, cause));
}

async function isFull(client: Redis): Promise<boolean> {
  const { usedBytes, maxBytes } = await readMemory(client);
  return maxBytes > 0 && usedBytes >= maxBytes;
}

/** When the job that waits longest was added, in epoch milliseconds; null if none waits. */
async function oldestJobAt(client: Redis, queue: Queue): Promise<number | null> {
  const [oldest] = (await readJobs(client, queue, ["waiting"], 1)).entries;
  return oldest?.timestamp ?? null;
}

function cannotListen(host: string, port: number, cause: unknown): DashboardError {
  const reason = messageOf(cause);
  return new DashboardError(
    "cannot-listen",
    `The dashboard cannot listen on ${host} port ${port}: ${reason}.`,
    hasCode(cause, "EADDRNOTAVAIL")
      ? "Give an address of this machine to --dashboard-host."
      : "Choose another --dashboard port, or 0 for any free one.",
    { cause },
  );
}
