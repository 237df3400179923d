/** Recurring runs with a real Redis between those who begin them. */
import { Queue } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { connectRedis, keyPrefix } from "../../../jobs/bullmq/redis.ts";
import { type RecurringRun, runScheduler } from "../../../jobs/bullmq/scheduler.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());
beforeEach(async () => {
  await redis.admin.flushall();
});

const every = 250;

/** Comes due four times a second. */
const recurring = (id: string, queue = "catalogue", missed: number | null = null): RecurringRun => ({
  ...{ id, queue, missed, cron: "* * * * *", tz: "UTC" },
  nextAfter: (millis) => (Math.floor(millis / every) + 1) * every,
});

interface Runner {
  /** What it began. */
  readonly begun: { readonly id: string; readonly at: number; endedAt: number }[];
  /** What it runs from now on. */
  runs: readonly RecurringRun[];
  readonly remarks: string[];
  stop(): Promise<void>;
}

const runners: Runner[] = [];
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
});

/** @param millis that a run takes */
async function startRunner(runs: readonly RecurringRun[], millis = 0): Promise<Runner> {
  const ending = new AbortController();
  const ready = Promise.withResolvers<void>();
  const connection = await connectRedis(redis.url);
  const runner: Runner = {
    ...{ runs, begun: [], remarks: [] },
    async stop() {
      ending.abort();
      await running;
      connection.end();
    },
  };
  const running = runScheduler({
    ...{ redis: connection, clock: systemClock, pollMillis: 100, signal: ending.signal },
    runs: () => runner.runs,
    async execute(id) {
      const run = { id, at: Date.now(), endedAt: Number.POSITIVE_INFINITY };
      runner.begun.push(run);
      await systemClock.sleep(millis, undefined);
      run.endedAt = Date.now();
    },
    onReady: ready.resolve,
    onWarning: (text) => runner.remarks.push(text),
  });
  runners.push(runner);
  await ready.promise;
  return runner;
}

const waitFor = (isSo: () => void) => vi.waitFor(isSo, { timeout: 20_000, interval: 20 });
const byTime = (...from: readonly Runner[]) => from.flatMap(({ begun }) => begun).sort((a, b) => a.at - b.at);

it("each time is begun by one of those who share it", async () => {
  const both = [await startRunner([recurring("a")]), await startRunner([recurring("a")])];
  await waitFor(() => expect(byTime(...both).length).toBeGreaterThan(8));
  const times = byTime(...both).map(({ at }) => Math.floor(at / every));
  expect(new Set(times).size).toBe(times.length);
});

it("of those with the same mirror one goes on at a time, whoever began it, and others do not wait for it", async () => {
  const all = [recurring("a"), recurring("b"), recurring("c", "another")];
  const both = [await startRunner(all, 400), await startRunner(all, 400)];
  await waitFor(() => expect(new Set(byTime(...both).map(({ id }) => id))).toEqual(new Set(["a", "b", "c"])));
  await waitFor(() => expect(byTime(...both).length).toBeGreaterThan(12));
  const ofMirror = byTime(...both).filter(({ id }) => id !== "c");
  ofMirror.slice(1).forEach(({ at }, index) => {
    expect(at).toBeGreaterThanOrEqual(ofMirror[index]?.endedAt ?? 0);
  });
  const others = byTime(...both).filter(({ id }) => id === "c");
  const isAtOnce = others.some(({ at }) => ofMirror.some((run) => run.at <= at && at < run.endedAt));
  expect(isAtOnce).toBe(true);
});

it("what came due while nobody was there is begun once", async () => {
  const slow = { ...recurring("a"), nextAfter: (millis: number) => (Math.floor(millis / 1000) + 1) * 1000 };
  const first = await startRunner([slow]);
  await waitFor(() => expect(first.begun.length).toBe(1));
  await first.stop();
  // Two times pass.
  await waitFor(() => expect(Date.now()).toBeGreaterThan((first.begun[0]?.at ?? 0) + 2100));
  const startedAt = Date.now();
  const second = await startRunner([slow]);
  await waitFor(() => expect(second.begun.length).toBe(2));
  const [made, next] = second.begun;
  expect(made?.at).toBeLessThan(next?.at ?? 0);
  expect(Math.floor((next?.at ?? 0) / 1000)).toBeGreaterThan(Math.floor(startedAt / 1000));
});

it("a Redis that forgot everything is told again, and what it forgot is made up for once", async () => {
  const never = { nextAfter: () => Date.now() + 3_600_000 };
  const both = [
    await startRunner([{ ...recurring("a"), ...never }]),
    await startRunner([{ ...recurring("a"), ...never }]),
  ];
  expect(byTime(...both)).toEqual([]);
  for (const runner of both) runner.runs = [{ ...recurring("a", "catalogue", 1000), ...never }];
  await redis.admin.flushall();
  await waitFor(() => expect(byTime(...both)).toHaveLength(1));
  const queue = await onlyQueue();
  try {
    await waitFor(async () => expect(await queue.getJobSchedulersCount()).toBe(1));
    await waitFor(async () => expect(await queue.getGlobalConcurrency()).toBe(1));
  } finally {
    await queue.close();
  }
  expect(byTime(...both)).toHaveLength(1);
});

it("what is removed is not begun any more, and nothing of it is left to be", async () => {
  const runner = await startRunner([recurring("a"), recurring("b")]);
  await waitFor(() => expect(new Set(runner.begun.map(({ id }) => id)).size).toBe(2));
  runner.runs = [recurring("b")];
  const queue = await onlyQueue();
  try {
    await waitFor(async () => expect((await queue.getJobSchedulers()).map(({ key }) => key)).toEqual(["b"]));
    const { length } = runner.begun.filter(({ id }) => id === "a");
    const until = runner.begun.length + 4;
    await waitFor(() => expect(runner.begun.length).toBeGreaterThan(until));
    // One that was already taken may have been under way.
    expect(runner.begun.filter(({ id }) => id === "a").length).toBeLessThanOrEqual(length + 1);
  } finally {
    await queue.close();
  }
});

it("a Redis that is away is waited for, and is no reason not to end", async () => {
  const runner = await startRunner([recurring("a")]);
  await waitFor(() => expect(runner.begun.length).toBeGreaterThan(1));
  await redis.kill();
  const { length } = runner.begun;
  await redis.start();
  await waitFor(() => expect(runner.begun.length).toBeGreaterThan(length + 1));
  await redis.kill();
  try {
    await runner.stop();
  } finally {
    await redis.start();
  }
});

/** The one that there is. */
async function onlyQueue(): Promise<Queue> {
  const keys = await redis.admin.keys(`${keyPrefix}:runs-*:meta`);
  const [, name = ""] = keys[0]?.match(/:(runs-[0-9a-f]+):meta$/) ?? [];
  return new Queue(name, { connection: redis.admin, prefix: keyPrefix });
}
