import { expect, it, vi } from "vitest";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { openRunMetrics, type RunFigures, stateKeyPrefix } from "../../../jobs/bullmq/run-metrics.ts";
import { startRedis } from "../../support/redis.ts";
import { principal } from "../support/bullmq-rig.ts";

const figures = (sent: number): RunFigures => ({
  requests: { sent, counted: sent, notModified: 0 },
  allowance: { limit: 300, remaining: 300 - sent, resetAt: null },
  frontier: { due: 5, held: sent },
  ingestLagSeconds: 0.25,
});

async function startRig() {
  const redis = await startRedis();
  const connection = await connectRedis(redis.url);
  return {
    redis,
    open: () => openRunMetrics(connection.client, principal, "m", () => 1_000_000),
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
  await metrics.end("allowance", figures(12));
  expect(await rig.readPublished()).toEqual({
    ...{ principal: "catalogue", queue: "fetch-catalogue@api.example~v2", updatedAt: "1000000" },
    ...{ sent: "12", counted: "12", notModified: "0", ingestLagSeconds: "0.25" },
    ...{ limit: "300", remaining: "288", resetAt: "", "frontier:due": "5", "frontier:held": "12" },
    ...{ endedAt: "1000000", outcome: "allowance", "runs:allowance": "1" },
  });
  expect(await rig.redis.admin.pttl(`${stateKeyPrefix}m`)).toBeGreaterThan(0);
});

it("requests and runs are summed over all runs, however often a run publishes", async () => {
  await using rig = await startRig();
  const first = rig.open();
  first.update(() => figures(3));
  await first.end("complete", figures(10));
  const second = rig.open();
  await second.end("complete", figures(4));
  expect(await rig.readPublished()).toMatchObject({ sent: "14", "frontier:held": "4", "runs:complete": "2" });
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
    const waitForSent = (n: number) => expect.poll(async () => (await rig.readPublished()).sent).toBe(`${n}`);
    update(1);
    update(2);
    await waitForSent(1);
    vi.advanceTimersByTime(999);
    update(3);
    vi.advanceTimersByTime(1);
    // The next update waits until the previous write is done.
    await expect
      .poll(async () => {
        update(4);
        return (await rig.readPublished()).sent;
      })
      .toBe("4");
    expect(reads).toEqual([1, 4]);
  } finally {
    vi.useRealTimers();
  }
});

it("the end of a run does not wait for an unreachable or frozen Redis", async () => {
  await using rig = await startRig();
  const [gone, frozen] = [rig.open(), rig.open()];
  rig.redis.signal("SIGSTOP");
  await frozen.end("complete", figures(1));
  await rig.redis.kill();
  await gone.end("complete", figures(1));
});
