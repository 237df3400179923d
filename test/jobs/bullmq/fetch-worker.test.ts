import { expect, it } from "vitest";
import type { ResponsesPayload } from "../../../jobs/bullmq/protocol.ts";
import { openQueue } from "../../../jobs/bullmq/queues.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startFetchWorker } from "../../../jobs/bullmq/worker/fetch-worker.ts";
import { openResponseWriter } from "../../../jobs/bullmq/worker/response-writer.ts";
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

it("large responses that wait together are written as several jobs, in their order", async () => {
  await using redis = await startRedis();
  const { client, end } = await connectRedis(redis.url);
  const writer = openResponseWriter(
    client,
    () => 1,
    () => {},
  );
  const wire = "A".repeat(3 * 2 ** 20);
  const ids = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
  await Promise.all(
    ids.map((id) =>
      writer.write("responses-a", { id, outcome: "response", head: { status: 200, headers: {} }, wire }),
    ),
  );
  const queue = openQueue<ResponsesPayload>(client, "responses-a");
  const jobs = await queue.getJobs(["waiting"], 0, -1, true);
  const sent = jobs.map(({ data }) => data.responses.map(({ id }) => id));
  expect(sent.flat()).toEqual(ids);
  // Redis takes no value of more than 512 MB, and a coordinator reads a job as a whole.
  expect(Math.max(...sent.map(({ length }) => length))).toBe(2);
  await queue.close();
  await writer.close();
  end();
});
