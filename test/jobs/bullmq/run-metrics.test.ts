import { expect, it, vi } from "vitest";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { openRunMetrics, type RunFigures, stateKeyPrefix } from "../../../jobs/bullmq/run-metrics.ts";
import { startRedis } from "../../support/redis.ts";
import { principal } from "../support/bullmq-rig.ts";

const figures = (sent: number): RunFigures => ({
  requests: { sent, counted: sent - 1, notModified: 0, unanswered: 1 },
  failures: { timeout: 1 },
  allowance: { limit: 300, remaining: 300 - sent, resetAt: null },
  frontier: { due: 5, held: sent },
  ingestLagSeconds: 0.25,
});

const complete = { outcome: "complete", isComplete: true };
const failed = { outcome: "error", isComplete: false };

async function startRig() {
  const redis = await startRedis();
  const connection = await connectRedis(redis.url);
  return {
    redis,
    open: (now = 1_000_000) => openRunMetrics(connection.client, principal, "m", () => now),
    readPublished: () => redis.admin.hgetall(`${stateKeyPrefix}m`),
    async [Symbol.asyncDispose]() {
      connection.end();
      await redis[Symbol.asyncDispose]();
    },
  };
}

it("the end of a run publishes all figures with the principal's name", async () => {
  await using rig = await startRig();
  const metrics = rig.open();
  await metrics.end({ outcome: "allowance", isComplete: false }, figures(12));
  expect(await rig.readPublished()).toEqual({
    ...{ principal: "catalogue", queue: "fetch-catalogue@api.example~v2", updatedAt: "1000000" },
    ...{ sent: "12", counted: "11", notModified: "0", unanswered: "1", "failures:timeout": "1" },
    ...{ limit: "300", remaining: "288", resetAt: "", "frontier:due": "5", "frontier:held": "12" },
    ...{ ingestLagSeconds: "0.25", startedAt: "1000000", endedAt: "1000000", isOpen: "0" },
    "runs:allowance": "1",
  });
  expect(await rig.redis.admin.pttl(`${stateKeyPrefix}m`)).toBeGreaterThan(0);
});

it("requests and runs are summed over all runs, however often a run publishes", async () => {
  await using rig = await startRig();
  const first = rig.open();
  first.update(() => figures(3));
  await first.end(complete, figures(10));
  const second = rig.open();
  await second.end(complete, figures(4));
  expect(await rig.readPublished()).toMatchObject({ sent: "14", "frontier:held": "4", "runs:complete": "2" });
});

it("a failed run leaves the time of the last complete one", async () => {
  await using rig = await startRig();
  await rig.open(1_000_000).end(complete, figures(1));
  await rig.open(2_000_000).end(failed, figures(1));
  expect(await rig.readPublished()).toMatchObject({ completeAt: "1000000", endedAt: "2000000" });
});

it("a run without an end is counted as killed by the next one, once", async () => {
  await using rig = await startRig();
  rig.open().update(() => figures(3));
  await expect.poll(rig.readPublished).toMatchObject({ isOpen: "1", sent: "3" });
  const next = rig.open();
  next.update(() => figures(1));
  await next.end(complete, figures(2));
  expect(await rig.readPublished()).toMatchObject({ sent: "5", "runs:killed": "1", "runs:complete": "1" });
});

it("figures are read at most once a second", async () => {
  await using rig = await startRig();
  const metrics = rig.open();
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const reads: number[] = [];
    const update = (n: number) =>
      metrics.update(() => {
        reads.push(n);
        return figures(n);
      });
    // `expect.poll` would advance the fake time.
    const untilSent = async (n: number, act: () => void = () => {}): Promise<void> => {
      do act();
      while ((await rig.readPublished()).sent !== `${n}`);
    };
    update(1);
    update(2);
    await untilSent(1);
    vi.advanceTimersByTime(999);
    update(3);
    vi.advanceTimersByTime(1);
    // The next update waits until the previous write is done.
    await untilSent(4, () => update(4));
    expect(reads).toEqual([1, 4]);
  } finally {
    vi.useRealTimers();
  }
});

it("the end of a run does not wait for an unreachable or frozen Redis", async () => {
  await using rig = await startRig();
  const [gone, frozen] = [rig.open(), rig.open()];
  rig.redis.signal("SIGSTOP");
  await frozen.end(complete, figures(1));
  await rig.redis.kill();
  await gone.end(complete, figures(1));
});
