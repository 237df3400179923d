import { expect, it } from "vitest";
import { isRunAlive, startHeartbeat } from "../../../jobs/bullmq/heartbeat.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startRedis } from "../../support/redis.ts";

it("a connection that replaces a lost one listens only after its own preparation", async () => {
  await using redis = await startRedis();
  const connection = await connectRedis(redis.url);
  const isAlive = () => isRunAlive(redis.admin, "responses", "run-1");
  const readConnections = async () => {
    const list = String(await redis.admin.call("CLIENT", "LIST", "TYPE", "normal"))
      .trim()
      .split("\n");
    return new Map(list.map((line) => [/^id=\d+/.exec(line)?.[0], /cmd=\S+/.exec(line)?.[0]]));
  };
  const isPrepared = Promise.withResolvers<void>();
  let preparations = 0;
  const starting = startHeartbeat(connection, "responses", "run-1", async () => {
    preparations++;
    if (preparations > 1) return await isPrepared.promise;
    const lost = await readConnections();
    await redis.admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    // Both connections of the run are back, and ioredis has asked for what it must know before it uses them.
    await expect
      .poll(async () =>
        [...(await readConnections())].filter(([id, command]) => !lost.has(id) && command === "cmd=info"),
      )
      .toHaveLength(2);
    await connection.client.ping();
  });
  await expect.poll(() => preparations).toBe(2);
  expect(await isAlive()).toBe(false);
  isPrepared.resolve();
  await using heartbeat = Object.assign(await starting, {
    [Symbol.asyncDispose]: async () => {
      await (await starting).end();
      connection.end();
    },
  });
  expect(await heartbeat.renew()).toBeNull();
  expect(await isAlive()).toBe(true);
});
