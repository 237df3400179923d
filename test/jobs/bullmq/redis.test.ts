import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { inspect } from "node:util";
import { expect, it, onTestFinished, vi } from "vitest";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { selfSigned } from "../../service/support/self-signed.ts";
import { startRawServer } from "../../support/raw-server.ts";
import { startRedis } from "../../support/redis.ts";

/** A socket has no address with the number of a database. */
async function relayTo(socket: string) {
  const relay = createServer((client) => client.pipe(connect(socket)).pipe(client));
  await once(relay.listen(0, "127.0.0.1"), "listening");
  return {
    address: `redis://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void relay.close(),
  };
}

it.each(["rediss:", "REDISS:"])(
  "the certificate of %s is verified, also with NODE_TLS_REJECT_UNAUTHORIZED=0",
  async (protocol) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    await using server = await startRawServer(() => {}, { tls: selfSigned });
    const address = server.origin.replace("https:", `${protocol}//:secret@`).replace("@//", "@");
    await expect(connectRedis(address)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("self-signed certificate"),
    });
  },
);

it.each(["rediss://127.0.0.1:6379/?tls=insecure&password=secret", "/run/redis.sock?password=secret"])(
  "an address of Redis with a query is refused: it could turn the check of certificates off, or have a password (%#)",
  async (address) => {
    const error = await connectRedis(address).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "bad-address" });
    expect(String(error)).not.toContain("secret");
  },
);

/** A server that answers these commands, and repeats in an error all others and the password. */
async function startRepeatingRedis(answers: Readonly<Record<string, string>>) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      for (const command of bytes.toString().split(/(?=\*\d+\r\n\$)/)) {
        const words = command.split("\r\n").filter((_, n) => n > 0 && n % 2 === 0);
        socket.write(answers[words[0]?.toUpperCase() ?? ""] ?? `-ERR secret-word ${words.join(" ")}\r\n`);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `redis://:secret-word@127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("a Redis that repeats the password in its errors is quoted without it", async () => {
  const address = await startRepeatingRedis({});
  const error = await connectRedis(address).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining("[credential]") });
  expect(inspect((error as Error).cause, { depth: 0 }) + (error as Error).stack).not.toContain("secret-word");

  const info = "redis_version:7.0.0\r\nrole:master\r\n";
  const hello = "%1\r\n$5\r\nproto\r\n:3\r\n";
  const answers = { HELLO: hello, CLIENT: "+OK\r\n", INFO: `$${info.length}\r\n${info}\r\n` };
  const { client, end } = await connectRedis(await startRepeatingRedis(answers));
  const another = client.duplicate();
  for (const one of [client, another]) {
    const refusal = await one.get("key").catch((reason: unknown) => reason);
    expect(String(refusal)).toContain("ERR [credential] get key");
    const piped = await one.pipeline().get("key").exec();
    expect(String(piped?.[0]?.[0])).toContain("ERR [credential] get key");
  }
  another.disconnect();
  end();

  const policy = `${info}maxmemory_policy:secret-word\r\n`;
  const evicting = await startRepeatingRedis({ ...answers, INFO: `$${policy.length}\r\n${policy}\r\n` });
  await expect(connectRedis(evicting)).rejects.toMatchObject({
    message: expect.stringContaining("maxmemory-policy [credential]"),
  });
});

it.each(["abc", "1x", "1/2", "-1"])(
  "an address of Redis whose path is not the number of a database is refused: %s",
  async (path) => {
    const address = `redis://:secret@127.0.0.1:6379/${path}`;
    await expect(connectRedis(address)).rejects.toMatchObject({
      code: "bad-address",
      message: "The path in the address of Redis is not the number of a database.",
    });
  },
);

it("a database that a Redis does not have is refused, and not taken for database 0", async () => {
  await using redis = await startRedis();
  await using relay = await relayTo(redis.url);
  const { address } = relay;
  await expect(connectRedis(`${address}/99`)).rejects.toMatchObject({
    code: "unsuitable",
    message: `Redis has no database of this number: ${address}/99`,
  });
  const { client, end } = await connectRedis(`${address}/3`);
  await client.set("key", "value");
  end();
  expect(await redis.admin.call("INFO", "keyspace")).toMatch(/^# Keyspace\s+db3:keys=1,/);
});

it("a user of Redis without the right to SELECT can use the first database, and learns why no other", async () => {
  await using redis = await startRedis();
  await redis.admin.call("ACL", "SETUSER", "default", "-select");
  const { client, end } = await connectRedis(redis.url);
  expect(await client.ping()).toBe("PONG");
  end();
  await using relay = await relayTo(redis.url);
  await expect(connectRedis(`${relay.address}/3`)).rejects.toMatchObject({
    code: "unsuitable",
    message: expect.stringContaining("requires another user or password"),
  });
});

it("each loss of the connection and its return are reported, but not its own end", async () => {
  await using redis = await startRedis();
  const warnings: string[] = [];
  const { end, client } = await connectRedis(redis.url, (text) => warnings.push(text));
  const [lost, back] = [
    `The connection to Redis at ${redis.url} is lost; requests wait until it is back.`,
    `The connection to Redis at ${redis.url} is back.`,
  ];
  await redis.kill();
  await expect.poll(() => warnings).toEqual([lost]);
  await redis.start();
  await expect.poll(() => warnings).toEqual([lost, back]);
  await redis.kill();
  await expect.poll(() => warnings).toEqual([lost, back, lost]);
  await redis.start();
  await expect.poll(() => warnings).toEqual([lost, back, lost, back]);
  const closed = new Promise((resolve) => client.once("close", resolve));
  end();
  await closed;
  expect(warnings).toHaveLength(4);
});

it("an eviction policy that was changed meanwhile is reported after a reconnection, once", async () => {
  await using redis = await startRedis();
  const warnings: string[] = [];
  const { end, client } = await connectRedis(redis.url, (text) => warnings.push(text));
  await redis.admin.config("SET", "maxmemory-policy", "allkeys-lru");
  const evicts = () => warnings.filter((text) => text.includes("evicts keys"));
  for (let times = 0; times < 2; times++) {
    const ready = new Promise((resolve) => client.once("ready", resolve));
    await redis.admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await ready;
    await expect.poll(evicts).toHaveLength(1);
  }
  expect(evicts()[0]).toContain("maxmemory-policy noeviction");
  end();
});

it("an eviction policy that was changed meanwhile is reported within a minute, also without a reconnection", async () => {
  await using redis = await startRedis();
  const warnings: string[] = [];
  vi.useFakeTimers({ toFake: ["setInterval"] });
  try {
    const { end } = await connectRedis(redis.url, (text) => warnings.push(text));
    await redis.admin.config("SET", "maxmemory-policy", "allkeys-lru");
    vi.advanceTimersByTime(60_000);
    await expect.poll(() => warnings).toEqual([expect.stringContaining("evicts keys")]);
    end();
  } finally {
    vi.useRealTimers();
  }
});
