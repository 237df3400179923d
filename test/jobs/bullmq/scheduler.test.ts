/** Recurring runs that several schedulers share through a real Redis. */
import { Queue } from "bullmq";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { keyPrefix } from "../../../jobs/bullmq/queue-names.ts";
import { openQueue } from "../../../jobs/bullmq/queues.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
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

const periodMillis = 250;

/** Due four times a second. */
const recurring = (id: string, queue = "catalogue", missed: number | null = null): RecurringRun => ({
  ...{ id, name: `schedule-${id}`, command: "sync", area: "catalogue", queue, missed },
  ...{ cron: "* * * * *", tz: "UTC" },
  nextAfter: (millis) => (Math.floor(millis / periodMillis) + 1) * periodMillis,
});

interface Scheduler {
  readonly started: { readonly id: string; readonly startedAt: number; endedAt: number }[];
  /** Can be replaced while it runs. */
  runs: readonly RecurringRun[];
  /** How often it has read them. */
  reads: number;
  readonly warnings: string[];
  problems: readonly string[];
  stop(): Promise<void>;
}

const schedulers: Scheduler[] = [];
afterEach(async () => {
  await Promise.all(schedulers.splice(0).map((scheduler) => scheduler.stop()));
});

async function startScheduler(runs: readonly RecurringRun[], { runMillis = 0 } = {}): Promise<Scheduler> {
  const closing = new AbortController();
  const ready = Promise.withResolvers<void>();
  const connection = await connectRedis(redis.url);
  const scheduler: Scheduler = {
    ...{ runs, reads: 0, started: [], warnings: [], problems: [] },
    async stop() {
      closing.abort();
      await running;
      connection.end();
    },
  };
  const running = runScheduler({
    ...{ redis: connection, clock: systemClock, pollMillis: 100, signal: closing.signal },
    runs() {
      scheduler.reads++;
      return scheduler.runs;
    },
    async execute(id) {
      const run = { id, startedAt: Date.now(), endedAt: Number.POSITIVE_INFINITY };
      scheduler.started.push(run);
      await systemClock.sleep(runMillis, undefined);
      run.endedAt = Date.now();
      return { exitCode: id === "failing" ? 3 : 0, seconds: 0, counts: { new: 1 } };
    },
    onReady: ready.resolve,
    onWarning: (text) => scheduler.warnings.push(text),
    onProblems(problems) {
      scheduler.problems = problems;
    },
  });
  schedulers.push(scheduler);
  await ready.promise;
  return scheduler;
}

/** The queue of the only mirror. */
async function openScheduleQueue() {
  const { client, end } = await connectRedis(redis.url);
  const [key = ""] = await redis.admin.keys("*:schedules-*:meta");
  const queue = openQueue(client, key.split(":").at(-2) ?? "");
  return {
    queue,
    async [Symbol.asyncDispose]() {
      await queue.close();
      end();
    },
  };
}

const waitFor = (assertion: () => void) => vi.waitFor(assertion, { timeout: 80_000, interval: 20 });
const startedBy = (...all: readonly Scheduler[]) =>
  all.flatMap(({ started }) => started).sort((a, b) => a.startedAt - b.startedAt);

it("each due run is started by one of the schedulers", async () => {
  const bothSchedulers = [await startScheduler([recurring("a")]), await startScheduler([recurring("a")])];
  await waitFor(() => expect(startedBy(...bothSchedulers).length).toBeGreaterThan(8));
  await Promise.all(bothSchedulers.map((scheduler) => scheduler.stop()));
  await using schedules = await openScheduleQueue();
  const jobs = await schedules.queue.getCompleted();
  // On a busy machine two runs may start in the same period, each at its own due time.
  const dueTimes = jobs.map(({ timestamp, opts }) => timestamp + (opts.delay ?? 0));
  expect(dueTimes.filter((time) => time % periodMillis !== 0)).toEqual([]);
  expect(new Set(dueTimes).size).toBe(startedBy(...bothSchedulers).length);
});

it("an overwritten queue is a problem of the scheduler until it is right again", async () => {
  const scheduler = await startScheduler([recurring("a")]);
  await waitFor(() => expect(scheduler.started.length).toBeGreaterThan(0));
  const [meta = ""] = await redis.admin.keys("*:schedules-*:meta");
  const delayed = meta.replace(/meta$/, "delayed");
  await redis.admin.multi().del(delayed).set(delayed, "x").exec();
  await waitFor(() => expect(scheduler.problems.join()).toContain("its key delayed is a string, not a zset"));
  await redis.admin.del(delayed);
  await waitFor(() => expect(scheduler.problems).toEqual([]));
});

it("runs of the same mirror never overlap, and do not delay those of other mirrors", async () => {
  const all = [recurring("a"), recurring("b"), recurring("c", "another")];
  const bothSchedulers = [
    await startScheduler(all, { runMillis: 400 }),
    await startScheduler(all, { runMillis: 400 }),
  ];
  await waitFor(() =>
    expect(new Set(startedBy(...bothSchedulers).map(({ id }) => id))).toEqual(new Set(["a", "b", "c"])),
  );
  await waitFor(() => expect(startedBy(...bothSchedulers).length).toBeGreaterThan(12));
  const ofMirror = startedBy(...bothSchedulers).filter(({ id }) => id !== "c");
  ofMirror.slice(1).forEach(({ startedAt }, index) => {
    expect(startedAt).toBeGreaterThanOrEqual(ofMirror[index]?.endedAt ?? 0);
  });
  const otherRuns = startedBy(...bothSchedulers).filter(({ id }) => id === "c");
  const isOverlapping = otherRuns.some(({ startedAt }) =>
    ofMirror.some((run) => run.startedAt <= startedAt && startedAt < run.endedAt),
  );
  expect(isOverlapping).toBe(true);
});

it("due times missed while no scheduler was running are made up for by one run", async () => {
  const slow = { ...recurring("a"), nextAfter: (millis: number) => (Math.floor(millis / 1000) + 1) * 1000 };
  const first = await startScheduler([slow]);
  await waitFor(() => expect(first.started.length).toBe(1));
  await first.stop();
  // Two due times pass.
  await waitFor(() => expect(Date.now()).toBeGreaterThan((first.started[0]?.startedAt ?? 0) + 2100));
  const startedAt = Date.now();
  const second = await startScheduler([slow]);
  await waitFor(() => expect(second.started.length).toBe(2));
  const [madeUp, next] = second.started;
  expect(madeUp?.startedAt).toBeLessThan(next?.startedAt ?? 0);
  expect(Math.floor((next?.startedAt ?? 0) / 1000)).toBeGreaterThan(Math.floor(startedAt / 1000));
});

it("a Redis that lost its data receives the schedules again, and a missed due time is made up for once", async () => {
  const never = { nextAfter: () => Date.now() + 3_600_000 };
  const bothSchedulers = [
    await startScheduler([{ ...recurring("a"), ...never }]),
    await startScheduler([{ ...recurring("a"), ...never }]),
  ];
  expect(startedBy(...bothSchedulers)).toEqual([]);
  for (const scheduler of bothSchedulers) {
    scheduler.runs = [{ ...recurring("a", "catalogue", 1000), ...never }];
    const { reads } = scheduler;
    // Else it may restore the schedule as it was before.
    await waitFor(() => expect(scheduler.reads).toBeGreaterThan(reads));
  }
  await redis.admin.flushall();
  await waitFor(() => expect(startedBy(...bothSchedulers)).toHaveLength(1));
  const queue = await onlyQueue();
  try {
    await waitFor(async () => expect(await queue.getJobSchedulersCount()).toBe(1));
    await waitFor(async () => expect(await queue.getGlobalConcurrency()).toBe(1));
  } finally {
    await queue.close();
  }
  expect(startedBy(...bothSchedulers)).toHaveLength(1);
});

it("a removed run is removed from Redis and never started again", async () => {
  const scheduler = await startScheduler([recurring("a"), recurring("b")]);
  await waitFor(() => expect(new Set(scheduler.started.map(({ id }) => id)).size).toBe(2));
  scheduler.runs = [recurring("b")];
  const queue = await onlyQueue();
  try {
    await waitFor(async () => expect((await queue.getJobSchedulers()).map(({ key }) => key)).toEqual(["b"]));
    const { length } = scheduler.started.filter(({ id }) => id === "a");
    const until = scheduler.started.length + 4;
    await waitFor(() => expect(scheduler.started.length).toBeGreaterThan(until));
    // One job may have been started before the removal.
    expect(scheduler.started.filter(({ id }) => id === "a").length).toBeLessThanOrEqual(length + 1);
  } finally {
    await queue.close();
  }
});

it("a scheduler waits for an unreachable Redis, but stops without it", async () => {
  const scheduler = await startScheduler([recurring("a")]);
  await waitFor(() => expect(scheduler.started.length).toBeGreaterThan(1));
  await redis.kill();
  const { length } = scheduler.started;
  await redis.start();
  await waitFor(() => expect(scheduler.started.length).toBeGreaterThan(length + 1));
  await redis.kill();
  try {
    await scheduler.stop();
  } finally {
    await redis.start();
  }
});

/** The queue of the only mirror. */
async function onlyQueue(): Promise<Queue> {
  const keys = await redis.admin.keys(`${keyPrefix}:schedules-*:meta`);
  const [, name = ""] = keys[0]?.match(/:(schedules-catalogue~[0-9a-f]+):meta$/) ?? [];
  return new Queue(name, { connection: redis.admin, prefix: keyPrefix });
}

it("the jobs of a schedule have its name and command, and say what came of each run", async () => {
  const scheduler = await startScheduler([recurring("a"), recurring("failing")]);
  await waitFor(() =>
    expect(new Set(startedBy(scheduler).map(({ id }) => id))).toEqual(new Set(["a", "failing"])),
  );
  await scheduler.stop();
  await using schedules = await openScheduleQueue();
  const { queue } = schedules;
  const [[completed], [failed]] = await Promise.all([queue.getCompleted(), queue.getFailed()]);
  expect(completed).toMatchObject({
    ...{ name: "schedule-a", data: { command: "sync" } },
    returnvalue: { exitCode: 0, counts: { new: 1 } },
  });
  expect(failed).toMatchObject({
    name: "schedule-failing",
    failedReason: "ended with exit code 3; `armoire schedule list schedule-failing` shows why",
  });
});
