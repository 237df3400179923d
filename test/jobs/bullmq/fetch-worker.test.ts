import { expect, it } from "vitest";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startFetchWorker } from "../../../jobs/bullmq/worker/fetch-worker.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { startRedis } from "../../support/redis.ts";
import { principal } from "../support/bullmq-rig.ts";

it("a worker accepts jobs until it is closed", async () => {
  await using redis = await startRedis();
  const connection = await connectRedis(redis.url);
  const transport = { send: () => new Promise<never>(() => {}), close: async () => {} };
  const worker = startFetchWorker({
    ...{ redis: connection, principal, transport, concurrency: 1, clock: systemClock, onWarning: () => {} },
  });
  await expect.poll(() => worker.acceptsJobs).toBe(true);
  const closed = worker.close();
  expect(worker.acceptsJobs).toBe(false);
  await closed;
  connection.end();
});
