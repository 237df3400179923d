/** Faults of Redis during a sync through workers: it continues by itself, and repeats only running requests. */
import { expect, it } from "vitest";
import { RedisError } from "../../../jobs/bullmq/errors.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { type Rig, startRig } from "../support/rig.ts";

const world = { brands: 10, models: 40, sizes: 140, allowance: 100_000 };
/** Requests running at a time. */
const concurrency = 16;

interface RedisFault {
  readonly name: string;
  readonly settings?: readonly string[];
  /** Called after every eighth batch, of some dozens. */
  readonly cause: (redis: RedisServer) => Promise<unknown>;
}

const redisFaults: readonly RedisFault[] = [
  {
    name: "connections are cut",
    cause: ({ admin }) => admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"),
  },
  {
    name: "Redis sleeps",
    cause: ({ admin }) => admin.call("DEBUG", "SLEEP", "0.5"),
    settings: ["--enable-debug-command", "yes"],
  },
  {
    name: "Redis is frozen and thawed",
    async cause(redis) {
      redis.signal("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 300));
      redis.signal("SIGCONT");
    },
  },
  {
    name: "Redis is killed and restarts with its data",
    settings: ["--appendonly", "yes", "--appendfsync", "always"],
    async cause(redis) {
      await redis.kill();
      await redis.start();
    },
  },
  {
    name: "Redis is killed and restarts empty",
    async cause(redis) {
      await redis.kill();
      await redis.start();
    },
  },
  { name: "Redis is emptied", cause: ({ admin }) => admin.flushall() },
];

it.concurrent.for(redisFaults)("a sync continues by itself when $name", async ({ cause, settings }) => {
  await using redis = await startRedis(settings);
  await using rig = await startRig(world);
  await using _workers = await startFetchWorkers(2, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  let batches = 0;
  const caused: Promise<unknown>[] = [];
  const report = await rig.sync({
    ...{ workers: { redis: redis.url }, concurrency },
    onProgress() {
      if (++batches % 8 === 0 && caused.length < 3) caused.push(cause(redis));
    },
  });
  await Promise.all(caused);
  expect(caused.length).toBeGreaterThan(0);
  expect(report).toMatchObject({ complete: true, resources: { failed: 0 } });
  // Repeated: at most the running requests each time. The rate limit was requested as well.
  const requests = rig.sandbox.log().length;
  expect(requests).toBeLessThanOrEqual(report.resources.new + 2 + caused.length * concurrency);
  await expectSame(rig);
});

/** Compares the mirror with that of a sync without workers. */
async function expectSame(rig: Rig): Promise<void> {
  const file = `${rig.file}.inline`;
  await rig.sync({ file });
  const inline = openMirrorReader(file);
  try {
    expect(rig.read(canonicalDump)).toEqual(canonicalDump(inline));
  } finally {
    inline.close();
  }
}

it.concurrent("a sync pauses while Redis is out of memory, with a warning, and continues afterwards", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  const warnings: string[] = [];
  await redis.admin.config("SET", "maxmemory", "500kb");
  const { promise: isFull, resolve } = Promise.withResolvers<void>();
  const onWarning = (text: string) => {
    warnings.push(text);
    resolve();
  };
  const running = rig.sync({ workers: { redis: redis.url, onWarning }, concurrency });
  await isFull;
  expect(warnings[0]).toMatch(/^Redis is full, /);
  await redis.admin.config("SET", "maxmemory", "0");
  await using _workers = await startFetchWorkers(1, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  expect(await running).toMatchObject({ complete: true, resources: { failed: 0 } });
});

it.concurrent("an unreachable Redis is reported at once, and leaves no mirror", async () => {
  await using rig = await startRig(world);
  const redis = await startRedis();
  const { url } = redis;
  await redis[Symbol.asyncDispose]();
  const refused = await rig.sync({ workers: { redis: url } }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RedisError);
  expect(refused).toMatchObject({ code: "unreachable", message: expect.stringContaining(url) });
  expect(() => rig.read(canonicalDump)).toThrow(/no mirror/i);
});

it.concurrent("a Redis that does not respond is reported at once", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  redis.signal("SIGSTOP");
  const refused = await rig.sync({ workers: { redis: redis.url } }).catch((error: unknown) => error);
  redis.signal("SIGCONT");
  expect(refused).toMatchObject({
    code: "unreachable",
    message: expect.stringContaining("no response within"),
  });
});

it.concurrent.each(["allkeys-lru", "volatile-ttl", "allkeys-random", "volatile-lfu"])(
  "a Redis that evicts keys (%s) is rejected",
  async (policy) => {
    await using redis = await startRedis(["--maxmemory-policy", policy]);
    await using rig = await startRig(world);
    const syncing = rig.sync({ workers: { redis: redis.url } });
    await expect(syncing).rejects.toMatchObject({
      code: "unsuitable",
      message: expect.stringContaining(policy),
    });
  },
);

it.concurrent("a Redis user without channels is rejected, with the missing right", async () => {
  await using redis = await startRedis();
  await redis.admin.acl("SETUSER", "default", "resetchannels");
  await using rig = await startRig(world);
  const syncing = rig.sync({ workers: { redis: redis.url } });
  await expect(syncing).rejects.toMatchObject({
    code: "unsuitable",
    hint: expect.stringContaining("ACL SETUSER NAME &armoire:"),
  });
  expect(() => rig.read(canonicalDump)).toThrow(/no mirror/i);
});

it.concurrent("a replica of Redis is rejected", async () => {
  await using primary = await startRedis(["--port", "0"]);
  await using replica = await startRedis(["--replicaof", "127.0.0.1", "1"]);
  await using rig = await startRig(world);
  expect(primary.url).not.toBe(replica.url);
  const syncing = rig.sync({ workers: { redis: replica.url } });
  await expect(syncing).rejects.toMatchObject({
    code: "unsuitable",
    message: expect.stringContaining("replica"),
  });
});

it.concurrent("an interruption during an outage of Redis ends the sync, with everything saved", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  await using _workers = await startFetchWorkers(1, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  const stop = new AbortController();
  let batches = 0;
  const running = rig.sync({
    ...{ workers: { redis: redis.url }, concurrency, signal: stop.signal },
    onProgress() {
      if (++batches === 5) redis.signal("SIGKILL");
      if (batches === 5) stop.abort();
    },
  });
  expect(await running).toMatchObject({ stopped: "interrupted" });
  await redis.start();
});
