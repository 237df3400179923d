/**
 * What an operator looks at: the queues as pages, `/healthz` and `/metrics`. In: a connection to Redis, and what this worker
 * knows of itself. Out: a small server. While Redis is away it says so, and waits for nothing.
 */
import { once } from "node:events";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import type { Redis } from "ioredis";
import { errorClass, hasCode } from "../../../src/platform/errors.ts";
import { withTimeout } from "../async.ts";
import type { RedisConnection } from "../redis.ts";
import { openBoard } from "./board.ts";
import { type GuardOptions, guard } from "./guard.ts";
import { prometheusContentType, toMetrics, toPrometheusText, type WorkerFigures } from "./prometheus.ts";
import { type RedisSnapshot, watchRedis } from "./redis-snapshot.ts";

export interface DashboardOptions extends GuardOptions {
  /** 0 for any free one. */
  readonly port: number;
}

export interface Dashboard {
  readonly url: string;
  close(): Promise<void>;
}

const patienceMillis = 2000;

/** @throws DashboardError where it cannot listen */
export async function startDashboard(
  { client, shownAs }: RedisConnection,
  worker: () => WorkerFigures,
  options: DashboardOptions,
): Promise<Dashboard> {
  const board = openBoard(client, options);
  const lookAround = watchRedis(client);
  const answers = watchWhetherRedisAnswers(client);
  const app = new Hono();
  app.use(guard(options));
  app.onError(({ message }, context) => context.text(`${message}\n`, 500));

  const redisProblems = async (): Promise<readonly string[]> => {
    if (!(await answers())) return [`Redis at ${shownAs} does not answer`];
    return (await withTimeout(patienceMillis, () => isFull(client))) ? [`Redis at ${shownAs} is full`] : [];
  };
  app.get("/healthz", async (context) => {
    const idle = Object.entries(worker().takes).flatMap(([principal, takes]) => (takes ? [] : [principal]));
    const problems = [
      ...(await redisProblems()),
      ...idle.map((principal) => `no jobs are taken for ${principal}`),
    ];
    return context.json({ ok: problems.length === 0, problems }, problems.length === 0 ? 200 : 503);
  });

  const countJobs = async ({ queues, coordinators }: RedisSnapshot) => ({
    coordinators,
    queues: await Promise.all(
      board.show(queues).map(async (queue) => ({
        queue: queue.name,
        jobs: await queue.getJobCounts("waiting", "active", "delayed", "prioritized"),
      })),
    ),
  });
  app.get("/metrics", async (context) => {
    const seen = (await answers())
      ? await withTimeout(patienceMillis, () => lookAround().then(countJobs))
      : null;
    const text = toPrometheusText(toMetrics(worker(), seen));
    return context.body(text, 200, { "content-type": prometheusContentType });
  });

  app.use(async (context, next) => {
    if (!(await answers())) return context.text(`Redis at ${shownAs} does not answer.\n`, 503);
    board.show((await lookAround()).queues);
    return await next();
  });
  app.route("/", board.pages);

  const server = createAdaptorServer({ fetch: app.fetch });
  const { host, port } = options;
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (cause) {
    throw cannotListen(host, port, cause);
  }
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}/`,
    async close() {
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}

async function isFull(client: Redis): Promise<boolean> {
  const memory = await client.info("memory");
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(memory)?.[1] ?? 0);
  return read("maxmemory") > 0 && read("used_memory") >= read("maxmemory");
}

/** One question at a time, however often it is asked: what is frozen is not asked more and more. */
function watchWhetherRedisAnswers(client: Redis): () => Promise<boolean> {
  let asked: Promise<true> | null = null;
  const ask = (): Promise<true> => {
    asked ??= client
      .ping()
      .then(() => true as const)
      .finally(() => {
        asked = null;
      });
    return asked;
  };
  return async () => client.status === "ready" && ((await withTimeout(patienceMillis, ask)) ?? false);
}

/** The dashboard cannot be where it was wanted. */
export class DashboardError extends errorClass("DashboardError", { "cannot-listen": "failed" }) {}

function cannotListen(host: string, port: number, cause: unknown): DashboardError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DashboardError(
    "cannot-listen",
    `The dashboard cannot listen on ${host} port ${port}: ${why}.`,
    hasCode(cause, "EADDRNOTAVAIL")
      ? "Give an address of this machine to --dashboard-host."
      : "Choose another --dashboard port, or 0 for any free one.",
    { cause },
  );
}
