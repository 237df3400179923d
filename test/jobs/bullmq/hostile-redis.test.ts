/** A Redis into which a stranger has written: pages and metrics answer without it, and syncs hold what the service sent. */

import { Worker } from "bullmq";
import { request } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type FetchPayload, toWireResponse } from "../../../jobs/bullmq/protocol.ts";
import { fetchQueueName, keyPrefix, payloadVersion } from "../../../jobs/bullmq/queue-names.ts";
import { openQueue } from "../../../jobs/bullmq/queues.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { createServer } from "../../../src/web/server.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";
import { someOf } from "../../support/thorough.ts";
import { catalogueAt, startDashboardWorker, startFetchWorkers } from "../../support/workers.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { openSession, send } from "../../web/support/web-rig.ts";

import {
  addJob,
  entries,
  forged,
  jobs,
  json,
  key,
  ofCatalogue,
  payload,
  watchResponseQueue,
  worker,
} from "../support/strange-entries.ts";

let redis: RedisServer;
let rig: Rig;
beforeAll(async () => {
  redis = await startRedis();
  rig = await startRig({ brands: 1, models: 1, sizes: 1 });
  await rig.sync();
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});
const empty = async () => void (await redis.admin.flushall());

describe("pages and metrics", () => {
  beforeEach(empty);
  it.each(entries)("%s does not hide the rest", async (_name, poison) => {
    await addJob(
      redis.admin,
      "fetch-catalogue@c~v2",
      "failed",
      { data: json(payload), finishedOn: "1" },
      "good",
    );
    await redis.admin.set(key("worker:good"), worker({ host: "known", principals: [ofCatalogue] }));
    await poison(redis.admin);
    const server = await createServer({ findCatalogue: () => rig.file, port: 0, redis: redis.url });
    await using dashboard = await startDashboardWorker(redis, [catalogueAt(rig.sandbox.url)]);
    try {
      const cookie = await openSession(server);
      const page = await send(server, "/operations", { headers: { cookie } });
      expect([page.status, page.body]).toEqual([200, expect.stringContaining("http://good/")]);
      expect(page.body).toContain("known");
      const { unreadable } = JSON.parse(
        (await send(server, "/operations.json", { headers: { cookie } })).body,
      );
      expect(page.body.includes("cannot be read")).toBe(unreadable > 0);
      expect((await send(server, "/queues/api/queues")).status).toBeLessThan(600);
    } finally {
      await server.close();
    }
    for (const path of ["metrics", "healthz"]) {
      const { statusCode, body } = await request(`${dashboard.url}${path}`);
      expect([path, statusCode]).toEqual([path, 200]);
      const text = await body.text();
      if (path === "metrics") expect(text).toMatch(/redis_up 1[\s\S]*fetch-catalogue@c~v2/);
    }
  });
});

describe("syncs", () => {
  beforeEach(empty);
  it.each(["requests", "responses"].flatMap((kind) => jobs.map((entry) => [kind, ...entry] as const)))(
    "%s: %s does not keep a sync from the rest",
    async (kind, _name, poison) => {
      await using other = await startRig({ brands: 2, models: 2, sizes: 2 });
      const principal = catalogueAt(other.sandbox.url);
      using monitor = await watchResponseQueue(redis);
      if (kind === "requests") await poison(redis.admin, fetchQueueName(principal));
      else void monitor.name.then((name) => poison(redis.admin, name));
      await using _workers = await startFetchWorkers(1, {
        ...{ redis: redis.url, principals: [principal], onWarning: () => {} },
      });
      expect(await other.sync({ workers: { redis: redis.url } })).toMatchObject({
        ...{ complete: true, stopped: null },
        requests: { sent: other.sandbox.log().length, failed: 0 },
      });
    },
  );
});

const alterations: readonly (readonly [string, (data: string) => string])[] = [
  ["a list", () => "[]"],
  ["no JSON", () => "{"],
  ["the job of another sync", (data) => data.replace(/"coordinatorId":"/, "$&x")],
  ["another condition", (data) => data.replace(/"condition":\[/, '$&["if-none-match","x"]')],
];

describe.concurrent("altered jobs", () => {
  it.each(someOf(alterations, 1))("a job that has become %s is written anew", async (_name, alter) => {
    await using other = await startRig({ brands: 1, models: 1, sizes: 1 });
    const principal = catalogueAt(other.sandbox.url);
    const warnings: string[] = [];
    const syncing = other.sync({
      workers: { redis: redis.url, onWarning: (text) => warnings.push(text) },
    });
    const waiting = key(`${fetchQueueName(principal)}:wait`);
    const [jobId = ""] = await vi.waitFor(async () => {
      const ids = await redis.admin.lrange(waiting, 0, -1);
      expect(ids).toHaveLength(1);
      return ids;
    }, 80_000);
    const job = key(`${fetchQueueName(principal)}:${jobId}`);
    await redis.admin.hset(job, "data", alter((await redis.admin.hget(job, "data")) ?? ""));
    await using _workers = await startFetchWorkers(1, {
      ...{ redis: redis.url, principals: [principal], onWarning: () => {} },
    });
    expect(await syncing).toMatchObject({ complete: true });
    expect(warnings.join("\n")).toContain("Another program has changed jobs of this sync in Redis");
  });
});

describe.concurrent("forged responses", () => {
  it.each(someOf(forged, 2))(
    "a response with %s leaves the models unfetched, and says so",
    async (_name, response) => {
      await using other = await startRig({ brands: 1, models: 2, sizes: 2 });
      await using _stranger = await startStranger(other.sandbox.url, response);
      const report = await other.sync({ workers: { redis: redis.url } });
      expect(report.complete).toBe(false);
      expect(report.resources.failed + report.resources.pending + report.resources.postponed).toBe(2);
      const errors = other.read(({ db }) =>
        db.prepare<[], string>("select error from _resource where error is not null").pluck().all(),
      );
      for (const error of errors) expect(error.length).toBeLessThan(20_000);
    },
  );
});

/** A worker that answers for all but models, for which a stranger is sooner. */
async function startStranger(baseUrl: string, response: object): Promise<AsyncDisposable> {
  const { client, end } = await connectRedis(redis.url);
  const answering = new Worker<FetchPayload>(
    fetchQueueName(catalogueAt(baseUrl)),
    async ({ data: { url, kind, reply } }) => {
      const queue = openQueue(client, reply.queue);
      const { statusCode, headers, body } = await request(url);
      const wire = new Uint8Array(await body.arrayBuffer());
      const given = new Map(Object.entries(headers).map(([name, value]) => [name, value ?? ""]));
      const answered = {
        head: { status: statusCode, headers: Object.fromEntries(given) },
        wire,
        failure: null,
      };
      const sent = kind === "model" ? { id: reply.id, ...response } : toWireResponse(reply.id, answered);
      await queue.add("responses", { v: payloadVersion, responses: [sent] });
      await queue.close();
    },
    { connection: client, prefix: keyPrefix, concurrency: 4 },
  );
  answering.on("error", () => {});
  return {
    async [Symbol.asyncDispose]() {
      await answering.close(true);
      end();
    },
  };
}
