import { expect, it } from "vitest";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startRedis } from "../../support/redis.ts";

it("tells each time that Redis is gone, and that it is back, and nothing of its own end", async () => {
  await using redis = await startRedis();
  const remarks: string[] = [];
  const { end, client } = await connectRedis(redis.url, (text) => remarks.push(text));
  const [gone, back] = [
    `Redis at ${redis.url} is gone: everything waits until it is back.`,
    `Redis at ${redis.url} is back.`,
  ];
  await redis.kill();
  await expect.poll(() => remarks, { timeout: 15_000 }).toEqual([gone]);
  await redis.start();
  await expect.poll(() => remarks, { timeout: 15_000 }).toEqual([gone, back]);
  await redis.kill();
  await expect.poll(() => remarks, { timeout: 15_000 }).toEqual([gone, back, gone]);
  await redis.start();
  await expect.poll(() => remarks, { timeout: 15_000 }).toEqual([gone, back, gone, back]);
  const closed = new Promise((resolve) => client.once("close", resolve));
  end();
  await closed;
  expect(remarks).toHaveLength(4);
});
