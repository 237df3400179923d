/** The doctor checks Redis: whether it is usable, and whether it holds secrets. */
import { Queue } from "bullmq";
import { expect, it } from "vitest";
import { keyPrefix } from "../../jobs/bullmq/queue-names.ts";
import { connectRedis } from "../../jobs/bullmq/redis.ts";
import { diagnoseRedis } from "../../src/doctor/diagnose-redis.ts";
import { findSecrets } from "../../src/doctor/find-secrets.ts";
import { bearerToken } from "../../src/service/credentials/credential.ts";
import { startRedis } from "../support/redis.ts";

const token = "canary-in-redis-0123456789";
const secret = { label: "token", credential: bearerToken(token), places: [] };

const find = async (address: string) => {
  const { stored, end } = await diagnoseRedis(address);
  try {
    return await findSecrets([], [secret], { otherItems: stored });
  } finally {
    end();
  }
};

it("a secret is found in every type of key of Armoire's, and keys of other programs are not read", async () => {
  await using redis = await startRedis();
  const { admin } = redis;
  const base64 = Buffer.from(`{"echo":"${token}"}`).toString("base64");
  const head = { status: 200, headers: {} };
  const payload = { v: 1, responses: [{ id: "1", outcome: "response", head, wire: base64 }] };
  await admin.set(`${keyPrefix}:a`, token);
  await admin.hset(`${keyPrefix}:b`, { data: JSON.stringify({ token }) });
  await admin.rpush(`${keyPrefix}:c`, "x", encodeURIComponent(token));
  await admin.zadd(`${keyPrefix}:d`, 1, token);
  await admin.sadd(`${keyPrefix}:e`, token);
  await admin.xadd(`${keyPrefix}:f`, "*", "what", token);
  await admin.hset(`${keyPrefix}:g`, { data: JSON.stringify(payload) });
  await admin.set(`${keyPrefix}:${token}`, "");
  await admin.set("other-program", token);
  const { found, otherItems } = await find(redis.url);
  expect(otherItems).toBe(8);
  expect(found.map(({ file }) => file.split(" ")[0]?.slice(keyPrefix.length + 1)).sort()).toEqual(
    ["a", "b", "c", "d", "e", "f", "g", "[credential]"].sort(),
  );
});

it("waiting jobs hold no secret", async () => {
  await using redis = await startRedis();
  const { client, end } = await connectRedis(redis.url);
  const queue = new Queue("fetch-catalogue@api.example", { connection: client, prefix: keyPrefix });
  await queue.add("fetch", { v: 1, requests: [] });
  const { found, otherItems } = await find(redis.url);
  expect(found).toEqual([]);
  expect(otherItems).toBeGreaterThan(2);
  await queue.close();
  end();
});

it("an unsuitable Redis is reported with the setting to change", async () => {
  await using redis = await startRedis(["--maxmemory-policy", "allkeys-lru"]);
  const { diagnosis, stored } = await diagnoseRedis(redis.url);
  expect(diagnosis).toMatchObject({ isOk: false, message: expect.stringContaining("allkeys-lru") });
  expect(stored).toBeNull();
});
