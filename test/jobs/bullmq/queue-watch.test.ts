/** A stranger's keys in the place of a queue's own: they are noticed, and nothing is repeated without a pause. */
import type { Redis } from "ioredis";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fetchQueueName } from "../../../jobs/bullmq/queue-names.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";
import { someOf } from "../../support/thorough.ts";
import { catalogueAt, startDashboardWorker } from "../../support/workers.ts";
import { startRig } from "../../sync/support/rig.ts";
import { key, watchResponseQueue } from "../support/strange-entries.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());

const polling = { timeout: 80_000, interval: 50 };

const readHealth = async (url: string) => {
  const { statusCode, body } = await request(`${url}healthz`);
  return { status: statusCode, ...((await body.json()) as object) };
};
const untilHealth = (url: string, expected: object) =>
  vi.waitFor(async () => expect(await readHealth(url)).toMatchObject(expected), polling);
const untilSaid = (said: readonly string[], text: string) =>
  vi.waitFor(() => expect(said.join("\n")).toContain(text), polling);

const strange: readonly (readonly [string, string, (admin: Redis, name: string) => Promise<unknown>])[] = [
  ["wait", "its key wait is a string, not a list", (admin, name) => admin.set(name, "x")],
  ["active", "its key active is a hash, not a list", (admin, name) => admin.hset(name, "a", "b")],
  ["delayed", "its key delayed is a list, not a zset", (admin, name) => admin.lpush(name, "a")],
  ["marker", "its key marker is a string, not a zset", (admin, name) => admin.set(name, "x")],
  ["stalled", "its key stalled is a string, not a set", (admin, name) => admin.set(name, "x")],
  ["events", "its key events is a string, not a stream", (admin, name) => admin.set(name, "x")],
  ["id", "its key id is no number", (admin, name) => admin.set(name, "x")],
  ["meta", "its setting concurrency is no number", (admin, name) => admin.hset(name, "concurrency", "x")],
];

describe.concurrent("a queue of requests", () => {
  it.each(someOf(strange, 3))(
    "%s: /healthz and one line of the worker say that %s, until it is removed",
    async (suffix, reason, poison) => {
      const service = catalogueAt(`http://127.0.0.1:9/${suffix}`);
      const queue = fetchQueueName({ ...service, name: suffix });
      const name = key(`${queue}:${suffix}`);
      await poison(redis.admin, name);
      const warnings: string[] = [];
      await using worker = await startDashboardWorker(redis, [{ ...service, name: suffix }], {}, (text) =>
        warnings.push(text),
      );
      const problem = `No jobs of ${queue} can be added or taken: ${reason}. Remove it: redis-cli del '${name}'`;
      await untilHealth(worker.url, {
        status: 503,
        problems: [`no jobs are accepted for ${suffix}`, problem],
      });
      expect(warnings).toEqual([problem]);
      await redis.admin.del(name);
      await untilHealth(worker.url, { status: 200, problems: [] });
    },
  );
});

const callsOf = async (admin: Redis, command: string) =>
  Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await admin.info("commandstats"))?.[1] ?? 0);

it("a sync continues once its overwritten queues are right, and no command is repeated without a pause", async () => {
  await using own = await startRedis();
  await using rig = await startRig({ brands: 2, models: 2, sizes: 2 });
  const service = catalogueAt(rig.sandbox.url);
  const waiting = key(`${fetchQueueName(service)}:wait`);
  await own.admin.set(waiting, "x");
  const ofWorker: string[] = [];
  await using worker = await startDashboardWorker(own, [service], {}, (text) => ofWorker.push(text));
  await untilHealth(worker.url, { status: 503 });
  await own.admin.config("RESETSTAT");
  await vi.waitFor(async () => expect(await callsOf(own.admin, "type")).toBeGreaterThan(0), polling);
  expect(await callsOf(own.admin, "evalsha")).toBeLessThan(200);

  using monitor = await watchResponseQueue(own);
  const overwritten = monitor.name.then(async (queue) => {
    await own.admin.set(key(`${queue}:events`), "x");
    return queue;
  });
  const ofSync: string[] = [];
  const syncing = rig.sync({ workers: { redis: own.url, onWarning: (text) => ofSync.push(text) } });
  const queue = await overwritten;
  await untilSaid(ofSync, `${queue} can be added or taken: its key events is a string`);
  await untilSaid(ofSync, "Redis rejects jobs");
  await own.admin.del(waiting);
  await untilSaid(ofWorker, "Redis rejects responses");
  await own.admin.del(key(`${queue}:events`));
  expect(await syncing).toMatchObject({ complete: true });
});
