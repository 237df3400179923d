import { expect, it } from "vitest";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startFetchWorker } from "../../../jobs/bullmq/worker/fetch-worker.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { startRedis } from "../../support/redis.ts";
import { principal } from "../support/rig.ts";

it("takes jobs until it is told to end", async () => {
  await using redis = await startRedis();
  const connection = await connectRedis(redis.url);
  const sender = { send: () => new Promise<never>(() => {}), close: async () => {} };
  const worker = startFetchWorker({
    ...{ redis: connection, principal, sender, concurrency: 1, clock: systemClock, onWarning: () => {} },
  });
  await expect.poll(() => worker.takesJobs).toBe(true);
  const closed = worker.close();
  expect(worker.takesJobs).toBe(false);
  await closed;
  connection.end();
});
