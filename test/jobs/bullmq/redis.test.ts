import { expect, it } from "vitest";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startRedis } from "../../support/redis.ts";

it("each loss of the connection and its return are reported, but not its own end", async () => {
  await using redis = await startRedis();
  const warnings: string[] = [];
  const { end, client } = await connectRedis(redis.url, (text) => warnings.push(text));
  const [lost, back] = [
    `The connection to Redis at ${redis.url} is lost; requests wait until it is back.`,
    `The connection to Redis at ${redis.url} is back.`,
  ];
  await redis.kill();
  await expect.poll(() => warnings, { timeout: 15_000 }).toEqual([lost]);
  await redis.start();
  await expect.poll(() => warnings, { timeout: 15_000 }).toEqual([lost, back]);
  await redis.kill();
  await expect.poll(() => warnings, { timeout: 15_000 }).toEqual([lost, back, lost]);
  await redis.start();
  await expect.poll(() => warnings, { timeout: 15_000 }).toEqual([lost, back, lost, back]);
  const closed = new Promise((resolve) => client.once("close", resolve));
  end();
  await closed;
  expect(warnings).toHaveLength(4);
});
