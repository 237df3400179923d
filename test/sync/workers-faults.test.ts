/** Trouble with Redis while workers send a sync's requests: it goes on by itself, and asks again only for what was under way. */
import { expect, it } from "vitest";
import { RedisError } from "../../jobs/bullmq/errors.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { catalogueAt, startFetchWorkers } from "../support/fetch-workers.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { type Rig, startRig } from "./support/rig.ts";

const world = { brands: 10, models: 60, sizes: 300, allowance: 100_000 };
/** Under way at a time. */
const concurrency = 16;

interface Trouble {
  readonly what: string;
  readonly settings?: readonly string[];
  /** Done after every so many batches, which a sync of this world has some dozens of. */
  readonly make: (redis: RedisServer) => Promise<unknown>;
}

const troubles: readonly Trouble[] = [
  {
    what: "connections are cut",
    make: ({ admin }) => admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"),
  },
  {
    what: "Redis sleeps",
    make: ({ admin }) => admin.call("DEBUG", "SLEEP", "0.5"),
    settings: ["--enable-debug-command", "yes"],
  },
  {
    what: "Redis is frozen and thawed",
    async make(redis) {
      redis.signal("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 300));
      redis.signal("SIGCONT");
    },
  },
  {
    what: "Redis is killed and comes back with what it had",
    settings: ["--appendonly", "yes", "--appendfsync", "always"],
    async make(redis) {
      await redis.kill();
      await redis.start();
    },
  },
  {
    what: "Redis is killed and comes back empty",
    async make(redis) {
      await redis.kill();
      await redis.start();
    },
  },
  { what: "Redis is emptied", make: ({ admin }) => admin.flushall() },
];

it.concurrent.for(troubles)(
  "goes on by itself where $what",
  { timeout: 60_000 },
  async ({ make, settings }) => {
    await using redis = await startRedis(settings);
    await using rig = await startRig(world);
    await using _workers = await startFetchWorkers(2, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    let batches = 0;
    const made: Promise<unknown>[] = [];
    const report = await rig.sync({
      ...{ workers: { redis: redis.url }, concurrency },
      onProgress() {
        if (++batches % 8 === 0 && made.length < 3) made.push(make(redis));
      },
    });
    await Promise.all(made);
    expect(made.length).toBeGreaterThan(0);
    expect(report).toMatchObject({ complete: true, resources: { failed: 0 } });
    // Asked for again: at most what was under way each time. The limit was asked for as well.
    const requests = rig.sandbox.log().length;
    expect(requests).toBeLessThanOrEqual(report.resources.new + 2 + made.length * concurrency);
    await expectSame(rig);
  },
);

/** What came of it is what a sync without workers comes to. */
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

it.concurrent("takes no more than Redis has room for, and goes on when there is", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  const remarks: string[] = [];
  await redis.admin.config("SET", "maxmemory", "500kb");
  const { promise: isFull, resolve } = Promise.withResolvers<void>();
  const onWarning = (text: string) => {
    remarks.push(text);
    resolve();
  };
  const running = rig.sync({ workers: { redis: redis.url, onWarning }, concurrency });
  await isFull;
  expect(remarks[0]).toMatch(/^Redis is full, /);
  await redis.admin.config("SET", "maxmemory", "0");
  await using _workers = await startFetchWorkers(1, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  expect(await running).toMatchObject({ complete: true, resources: { failed: 0 } });
});

it.concurrent("says at once where there is no Redis, and leaves nothing behind", async () => {
  await using rig = await startRig(world);
  const redis = await startRedis();
  const { url } = redis;
  await redis[Symbol.asyncDispose]();
  const refused = await rig.sync({ workers: { redis: url } }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RedisError);
  expect(refused).toMatchObject({ code: "unreachable", message: expect.stringContaining(url) });
  expect(() => rig.read(canonicalDump)).toThrow(/no mirror/i);
});

it.concurrent("says at once that a Redis does not answer", async () => {
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
  "refuses a Redis that throws keys away (%s)",
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

it.concurrent("refuses a Redis whose user may not listen, and says what to allow", async () => {
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

it.concurrent("refuses a Redis that only repeats another", async () => {
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

it.concurrent("ends at once when it is told to while Redis is away, with everything saved", async () => {
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
