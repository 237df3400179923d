/** A sync through workers makes the same mirror with the same requests as one that sends them itself. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { startRig } from "../support/rig.ts";

const world = { brands: 8, models: 40, sizes: 120 };

const through = (redis: RedisServer) => ({ workers: { redis: redis.url } });

it("a sync through several workers makes the same mirror with the same number of requests", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  await using _workers = await startFetchWorkers(3, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
    concurrency: 2,
  });
  const report = await rig.sync(through(redis));
  const file = `${rig.file}.inline`;
  const inline = await rig.sync({ file });
  expect(report.requests).toEqual(inline.requests);
  expect(report.resources).toEqual(inline.resources);
  using mirror = openMirror(file);
  expect(rig.read(canonicalDump)).toEqual(canonicalDump(mirror.reader));
  // Unchanged bodies are not sent again.
  const again = await rig.sync({ ...through(redis), mode: "verify" });
  expect(again.requests).toMatchObject({ counted: 0, notModified: again.resources.unchanged });
});

function openMirror(file: string) {
  const reader = openMirrorReader(file);
  return { reader, [Symbol.dispose]: () => reader.close() };
}

it("a sync leaves only bookkeeping in Redis", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  {
    await using _workers = await startFetchWorkers(1, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    await rig.sync(through(redis));
  }
  const keys = await redis.admin.keys("*");
  // Metadata of queues and the metrics of the run: no jobs, no results.
  const bookkeeping = /:(meta|events|id|stalled-check|marker|limiter)$|:coordinator-state:\w+$/;
  expect(keys.filter((key) => !bookkeeping.test(key))).toEqual([]);
});

it("the rights that docs/operating.md lists are enough for the Redis user", async () => {
  const rights = /The rights that it needs:\s+`([^`]+)`/.exec(
    await readFile("docs/operating.md", "utf8"),
  )?.[1];
  await using redis = await startRedis();
  await redis.admin.acl(
    "SETUSER",
    "default",
    "resetkeys",
    "resetchannels",
    "-@all",
    ...(rights?.split(" ") ?? []),
  );
  await using rig = await startRig(world);
  await using _workers = await startFetchWorkers(1, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  expect(await rig.sync(through(redis))).toMatchObject({ complete: true });
});

it("running requests never exceed the allowance, and the sync stops when it is spent", async () => {
  await using redis = await startRedis();
  await using rig = await startRig({ ...world, allowance: 50 });
  await using _workers = await startFetchWorkers(4, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  const report = await rig.sync(through(redis));
  expect(report).toMatchObject({ stopped: "allowance", requests: { counted: 50, failed: 0 } });
  expect(rig.sandbox.log().filter(({ status }) => status >= 400)).toEqual([]);
});

it.each(["bare-403", "bare-429"] as const)(
  "an allowance whose end shows as a %s stops a sync through several workers after at most 3 refusals",
  async (spentResponse) => {
    await using redis = await startRedis();
    const faults = [{ kind: "rate_limit", times: "always", fault: "status", status: 404 }] as const;
    const silent = { allowanceHeaders: "none", spentResponse, faults, allowance: 40 } as const;
    await using rig = await startRig({ ...world, ...silent });
    await using _workers = await startFetchWorkers(4, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    for (let days = 0; days < 3; days++) {
      rig.sandbox.clearLog();
      const report = await rig.sync({ ...through(redis), concurrency: 16 });
      expect(report).toMatchObject({ stopped: "allowance", resources: { failed: 0 } });
      const log = rig.sandbox.log();
      expect(log.filter(({ status }) => status >= 400 && status !== 404).length).toBeLessThanOrEqual(3);
      expect(log.filter(({ counted }) => counted)).toHaveLength(40);
      rig.sandbox.moveClock({ advanceSeconds: 86_401 });
    }
  },
);
