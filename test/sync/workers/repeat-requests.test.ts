/** Retrying the job of a resource, as Bull Board and BullMQ offer it. */
import { expect, it } from "vitest";
import type { FetchPayload } from "../../../jobs/bullmq/protocol.ts";
import { fetchQueueName, keyPrefix } from "../../../jobs/bullmq/queue-names.ts";
import { openQueue } from "../../../jobs/bullmq/queues.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { createServer } from "../../../src/web/server.ts";
import { startRedis } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { openSession, send } from "../../web/support/web-rig.ts";
import { startRig } from "../support/rig.ts";

/** One model is refused at its first request. */
const faults: NonNullable<SandboxOptions["faults"]> = [
  { kind: "model", positions: [1], fault: "status", status: 400 },
];

async function startRepeatRig(world: SandboxOptions) {
  const redis = await startRedis();
  const rig = await startRig({ faults, ...world });
  const catalogue = catalogueAt(rig.sandbox.url);
  const worker = await startFetchWorkers(1, { redis: redis.url, principals: [catalogue] });
  const server = await createServer({
    ...{ findCatalogue: () => rig.file, port: 0, redis: redis.url, allowsActions: true },
  });
  const cookie = await openSession(server);
  const { client, end } = await connectRedis(redis.url);
  const queue = openQueue<FetchPayload>(client, fetchQueueName(catalogue));
  return {
    ...{ redis, rig, queue },
    sync: (options: Parameters<typeof rig.sync>[0] = {}) =>
      rig.sync({ workers: { redis: redis.url }, ...options }),
    /** With the button of a job, or with that of all failed jobs. */
    press: (path: string) =>
      send(server, `/queues/api/queues/${encodeURIComponent(queue.name)}/${path}`, {
        method: "PUT",
        headers: { origin: server.url.slice(0, -1), cookie },
      }),
    asked: async () => {
      const [key] = await redis.admin.keys(`${keyPrefix}:again:*`);
      return key === undefined ? [] : await redis.admin.smembers(key);
    },
    async [Symbol.asyncDispose]() {
      await queue.close();
      end();
      await server.close();
      await worker[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

it("a retried job sends nothing; the next sync requests its resource once, with a lease of its own", async () => {
  await using rig = await startRepeatRig({ brands: 3, models: 8, sizes: 20 });
  await rig.sync();
  // Held resources are requested again, too. Without the retry, the next sync would not check them.
  const held = (await rig.queue.getCompleted()).find(({ name }) => name === "size");
  const [failed] = await rig.queue.getFailed();
  const urls = [held?.data.url, failed?.data.url];
  rig.rig.sandbox.clearLog();
  await held?.retry("completed");
  expect((await rig.press(`${failed?.id}/retry`)).status).toBe(204);
  await expect.poll(rig.asked).toEqual(expect.arrayContaining(urls));
  // Again and again, with the same result.
  expect((await rig.press("retry/failed")).status).toBe(200);
  await held?.retry("completed").catch(() => {});
  await expect
    .poll(async () => (await rig.queue.getJob(failed?.id ?? ""))?.returnvalue)
    .toMatchObject({ outcome: "to be planned again", counted: 0 });
  expect(rig.rig.sandbox.log()).toEqual([]);

  const report = await rig.sync({ skipFresherThanMillis: 86_400_000 });
  const requested = rig.rig.sandbox.log().map(({ url }) => new URL(url, rig.rig.sandbox.url).href);
  for (const url of urls) expect(requested.filter((other) => other === url)).toHaveLength(1);
  expect(report.requests.sent).toBe(requested.length);
  expect(report).toMatchObject({ complete: true, requests: { retried: 0 } });
  expect(await rig.asked()).toEqual([]);
});

it("a running sync requests the resource of a retried job again", async () => {
  await using rig = await startRepeatRig({ brands: 8, models: 40, sizes: 120, latencyMillis: 20 });
  let url = "";
  const retryOnce = async () => {
    const [failed] = await rig.queue.getFailed();
    if (url !== "" || failed === undefined) return;
    url = failed.data.url;
    await failed.retry();
  };
  const report = await rig.sync({ concurrency: 1, onProgress: () => void retryOnce() });
  const requests = rig.rig.sandbox.log().filter((entry) => url === new URL(entry.url, url).href);
  expect(requests.map(({ status }) => status)).toEqual([400, 200]);
  expect(report).toMatchObject({ complete: true, requests: { retried: 0 } });
});
