/** A sync through workers makes the same mirror with the same requests as one that sends them itself. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import type { FetchPayload } from "../../../jobs/bullmq/protocol.ts";
import { fetchQueueName } from "../../../jobs/bullmq/queue-names.ts";
import { openQueue } from "../../../jobs/bullmq/queues.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { type RedisServer, startRedis, watchCommands } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { startRig } from "../support/rig.ts";

const world = { brands: 8, models: 40, sizes: 120 };

const through = (redis: RedisServer) => ({ workers: { redis: redis.url } });

it("a sync through several workers makes the same mirror with the same number of requests", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  await using _workers = await startFetchWorkers(3, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
    concurrency: 2,
  });
  const report = await rig.sync(through(redis));
  const file = `${rig.file}.inline`;
  const inline = await rig.sync({ file });
  expect(report.requests).toEqual(inline.requests);
  expect(report.resources).toEqual(inline.resources);
  using mirror = openMirror(file);
  expect(rig.read(canonicalDump)).toEqual(canonicalDump(mirror.reader));
  // Unchanged bodies are not sent again.
  const again = await rig.sync({ ...through(redis), mode: "verify" });
  expect(again.requests).toMatchObject({ counted: 0, notModified: again.resources.unchanged });
});

function openMirror(file: string) {
  const reader = openMirrorReader(file);
  return { reader, [Symbol.dispose]: () => reader.close() };
}

it("each resource is one job, which says what was fetched and what came of it", async () => {
  await using redis = await startRedis();
  await using rig = await startRig({
    ...{ brands: 3, models: 8, sizes: 20 },
    faults: [
      { kind: "model", positions: [1], times: "always", fault: "status", status: 400 },
      { kind: "size", positions: [1], times: "always", fault: "not-json" },
      { kind: "size", positions: [2], times: "always", fault: "wrong-rel", value: "collection" },
      { kind: "size", positions: [3], times: "always", fault: "wrong-rel", value: "resource" },
    ],
  });
  const workers = await startFetchWorkers(2, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  const report = await rig.sync(through(redis));
  // A job ends after its response has arrived.
  await workers[Symbol.asyncDispose]();
  const { client, end } = await connectRedis(redis.url);
  const queue = openQueue<FetchPayload>(client, fetchQueueName(catalogueAt(rig.sandbox.url)));
  const [completed, failed] = await Promise.all([queue.getCompleted(0, 999), queue.getFailed(0, 999)]);
  const kinds = new Set(completed.map(({ name }) => name));
  for (const kind of ["root", "brands", "brand", "models", "model", "sizes", "size"])
    expect(kinds).toContain(kind);
  expect(completed.length + failed.length).toBe(report.requests.sent);
  for (const { name, data, returnvalue } of completed) {
    expect(data).toMatchObject({
      run: report.run,
      kind: name,
      url: expect.stringContaining("http"),
      attempt: 1,
    });
    expect(returnvalue).toMatchObject({ outcome: "body", status: 200, counted: 1 });
    expect(returnvalue.bytes).toBeGreaterThan(0);
  }
  const labels = completed.flatMap(({ name, data }) => (name === "size" ? [data.label] : []));
  expect(labels.every((label) => /^.+ › .+ › .+$/.test(label ?? ""))).toBe(true);
  const reasons = rig.read(({ db }) =>
    db
      .prepare<[], { url: string; error: string }>("select url, error from _resource where error is not null")
      .all(),
  );
  expect(reasons).toHaveLength(4);
  expect(new Map(failed.map(({ data, failedReason }) => [data.url, failedReason]))).toEqual(
    new Map(reasons.map(({ url, error }) => [url, error])),
  );
  expect(failed[0]?.stacktrace).toEqual([]);
  await queue.close();
  end();
});

it("jobs keep the order of the plan", async () => {
  await using redis = await startRedis();
  await using rig = await startRig({ brands: 3, models: 8, sizes: 20 });
  const catalogue = catalogueAt(rig.sandbox.url);
  {
    const principals = [catalogue];
    await using _worker = await startFetchWorkers(1, { redis: redis.url, principals, concurrency: 1 });
    await rig.sync(through(redis));
  }
  const { client, end } = await connectRedis(redis.url);
  const queue = openQueue<FetchPayload>(client, fetchQueueName(catalogue));
  const numberOf = ({ id = "" }: { readonly id?: string | undefined }) => Number(id.split(".").at(-1));
  const jobs = (await queue.getCompleted(0, 999)).sort((a, b) => numberOf(a) - numberOf(b));
  const requested = rig.sandbox.log().map(({ url }) => new URL(url, rig.sandbox.url).href);
  expect(requested).toEqual(jobs.map(({ data }) => data.url));
  await queue.close();
  end();
});

it("completed jobs of an account are gone, and its jobs have no names", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  const principal = { name: "anna", baseUrl: rig.sandbox.url, credential };
  const commands: string[] = [];
  using _watched = await watchCommands(redis, (command) => void commands.push(command));
  {
    await using _workers = await startFetchWorkers(2, { redis: redis.url, principals: [principal] });
    const workers = { redis: redis.url, principal: "anna" };
    expect(await rig.sync({ workers, credential, area: "account" })).toMatchObject({ complete: true });
  }
  const keys = await redis.admin.keys("*");
  // The run itself stays, with its outcome only.
  const run = /:sync-anna@[^:]+:(completed|1)$/;
  expect(keys.filter((key) => !bookkeeping.test(key) && !run.test(key))).toEqual([]);
  const sent = commands.join("\n");
  expect(sent).toMatch(/"kind":"bra"/);
  expect(sent).toMatch(/"label":null/);
  expect(sent).not.toMatch(/"label":"/);
  expect(await redis.admin.xlen(keys.find((key) => /fetch-anna@.*:events$/.test(key)) ?? "none")).toBe(0);
  expect(keys.some((key) => /fetch-anna@.*:events$/.test(key))).toBe(true);
});

// Metadata of queues and the metrics of the run.
const bookkeeping = /:(meta|events|id|stalled-check|marker|limiter)$|:coordinator-state:\w+$/;

it("a sync leaves in Redis only bookkeeping and the jobs that people read, without bodies", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  {
    await using _workers = await startFetchWorkers(1, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    await rig.sync(through(redis));
  }
  const keys = await redis.admin.keys("*");
  const job = /:fetch-catalogue@[^:]+:(completed|[\w-]+\.\d+)$/;
  const run = /:sync-catalogue@[^:]+:(completed|1|1:logs)$/;
  expect(keys.filter((key) => ![bookkeeping, job, run].some((known) => known.test(key)))).toEqual([]);
  expect(keys.filter((key) => job.test(key)).length).toBeLessThanOrEqual(201);
  const brand = rig.read(({ db }) =>
    db.prepare<[], string>("select twitter from brand where twitter > ''").pluck().get(),
  );
  for (const key of keys.filter((key) => job.test(key) && !key.endsWith(":completed")))
    expect(JSON.stringify(await redis.admin.hgetall(key))).not.toContain(`"${brand}"`);
});

it("the rights that docs/operating.md lists are enough for the Redis user", async () => {
  const rights = /The rights that it needs:\s+`([^`]+)`/.exec(
    await readFile("docs/operating.md", "utf8"),
  )?.[1];
  await using redis = await startRedis();
  await redis.admin.acl(
    "SETUSER",
    "default",
    "resetkeys",
    "resetchannels",
    "-@all",
    ...(rights?.split(" ") ?? []),
  );
  await using rig = await startRig(world);
  await using _workers = await startFetchWorkers(1, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  expect(await rig.sync(through(redis))).toMatchObject({ complete: true });
});

it("running requests never exceed the allowance, and the sync stops when it is spent", async () => {
  await using redis = await startRedis();
  await using rig = await startRig({ ...world, allowance: 50 });
  await using _workers = await startFetchWorkers(4, {
    redis: redis.url,
    principals: [catalogueAt(rig.sandbox.url)],
  });
  const report = await rig.sync(through(redis));
  expect(report).toMatchObject({ stopped: "allowance", requests: { counted: 50, failed: 0 } });
  expect(rig.sandbox.log().filter(({ status }) => status >= 400)).toEqual([]);
});

it.each(["bare-403", "bare-429"] as const)(
  "an allowance whose end shows as a %s stops a sync through several workers after at most 3 refusals",
  async (spentResponse) => {
    await using redis = await startRedis();
    const faults = [{ kind: "rate_limit", times: "always", fault: "status", status: 404 }] as const;
    const silent = { allowanceHeaders: "none", spentResponse, faults, allowance: 40 } as const;
    await using rig = await startRig({ ...world, ...silent });
    await using _workers = await startFetchWorkers(4, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    for (let days = 0; days < 3; days++) {
      rig.sandbox.clearLog();
      const report = await rig.sync({ ...through(redis), concurrency: 16 });
      expect(report).toMatchObject({ stopped: "allowance", resources: { failed: 0 } });
      const log = rig.sandbox.log();
      expect(log.filter(({ status }) => status >= 400 && status !== 404).length).toBeLessThanOrEqual(3);
      expect(log.filter(({ counted }) => counted)).toHaveLength(40);
      rig.sandbox.moveClock({ advanceSeconds: 86_401 });
    }
  },
);
