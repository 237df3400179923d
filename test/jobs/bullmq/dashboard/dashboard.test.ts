/** The dashboard of a real worker with a real Redis, over HTTP. */
import { request } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fetchQueueName, payloadVersion } from "../../../../jobs/bullmq/queue-names.ts";
import { openQueue } from "../../../../jobs/bullmq/queues.ts";
import { connectRedis } from "../../../../jobs/bullmq/redis.ts";
import packageJson from "../../../../package.json" with { type: "json" };
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import { bearerToken } from "../../../../src/service/credentials/credential.ts";
import { secretEncodings } from "../../../../src/service/credentials/secret-encodings.ts";
import { metricValue } from "../../../support/metric-value.ts";
import { type RedisServer, startRedis } from "../../../support/redis.ts";
import { catalogueAt, startDashboardWorker } from "../../../support/workers.ts";
import { startRig } from "../../../sync/support/rig.ts";

let redis: RedisServer;
beforeAll(async () => {
  // A test searches its memory for secrets.
  redis = await startRedis(["--rdbcompression", "no"]);
});
afterAll(async () => {
  await redis[Symbol.asyncDispose]();
});

async function get(url: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode, headers, body } = await request(url, options);
  return { status: statusCode, headers, text: await body.text() };
}

it("/metrics has the requests of the worker, and the requests, allowance and frontier of the run", async () => {
  await using rig = await startRig({ brands: 4, models: 12, sizes: 30, allowance: 40 });
  await using worker = await startDashboardWorker(redis, [catalogueAt(rig.sandbox.url)]);
  const report = await rig.sync({ workers: { redis: redis.url } });
  expect(report.stopped).toBe("allowance");
  const { status, headers, text } = await get(`${worker.url}metrics`);
  expect({ status, type: headers["content-type"] }).toEqual({
    status: 200,
    type: "text/plain; version=0.0.4; charset=utf-8",
  });
  const service = `service="http-${new URL(rig.sandbox.url).host.replace(":", "-")}"`;
  const log = rig.sandbox.log();
  expect(metricValue(text, "armoire_worker_requests_total", 'principal="catalogue"')).toBe(log.length);
  expect(metricValue(text, "armoire_worker_requests_total", 'outcome="200"')).toBe(
    log.filter((entry) => entry.status === 200).length,
  );
  expect(metricValue(text, "armoire_requests_sent_total", service)).toBe(report.requests.sent);
  expect(metricValue(text, "armoire_requests_counted_total", service)).toBe(report.requests.counted);
  expect(metricValue(text, "armoire_allowance_limit", service)).toBe(40);
  expect(metricValue(text, "armoire_allowance_remaining", service)).toBe(0);
  expect(metricValue(text, "armoire_allowance_reset_timestamp_seconds", service)).toBe(
    Date.parse(report.allowance.resetAt ?? "") / 1000,
  );
  const states = rig.read(({ db }) =>
    db.prepare("select state, count(*) as n from _resource group by state").all(),
  );
  for (const { state, n } of states as { state: string; n: number }[])
    expect(metricValue(text, "armoire_frontier_resources", service, `state="${state}"`)).toBe(n);
  expect(metricValue(text, "armoire_frontier_resources", service, 'state="due"')).toBeGreaterThan(0);
  expect(metricValue(text, "armoire_ingest_lag_seconds", service)).toBeGreaterThanOrEqual(0);
  expect(metricValue(text, "armoire_runs_total", service, 'outcome="allowance"')).toBe(1);
  expect(metricValue(text, "armoire_coordinator_up", service)).toBe(0);
  expect(metricValue(text, "armoire_redis_up")).toBe(1);
  expect(metricValue(text, "armoire_redis_memory_used_bytes")).toBeGreaterThan(0);
  expect(metricValue(text, "armoire_redis_memory_max_bytes")).toBeNull();
  expect(metricValue(text, "armoire_worker_request_duration_seconds_count")).toBe(log.length);
  expect(metricValue(text, "armoire_worker_request_duration_seconds_bucket", 'le="+Inf"')).toBe(log.length);
  expect(metricValue(text, "armoire_build_info", `version="${packageJson.version}"`)).toBe(1);
  expect(metricValue(text, "process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
  expect(metricValue(text, "process_cpu_seconds_total")).toBeGreaterThan(0);
  // A mirror with work left is not complete.
  expect(metricValue(text, "armoire_run_last_complete_timestamp_seconds", service)).toBeNull();
});

it("/metrics has the last complete run, failures by reason, killed runs, and requests without a response", async () => {
  await using own = await startRedis();
  await using rig = await startRig({ brands: 2, models: 4, sizes: 8 });
  await using worker = await startDashboardWorker(own, [catalogueAt(rig.sandbox.url)]);
  const read = async () => (await get(`${worker.url}metrics`)).text;
  await rig.sync({ workers: { redis: own.url } });
  const completeAt = metricValue(await read(), "armoire_run_last_complete_timestamp_seconds");
  expect(completeAt).toBeGreaterThan(0);

  const [stateKey = ""] = await own.admin.keys("*coordinator-state:*");
  await own.admin.hset(stateKey, { isOpen: "1", unanswered: "2", "failures:timeout": "3" });
  // The snapshot is cached for a moment.
  await expect.poll(async () => metricValue(await read(), "armoire_runs_total", 'outcome="killed"')).toBe(1);
  const text = await read();
  expect(metricValue(text, "armoire_requests_unanswered_total")).toBe(2);
  expect(metricValue(text, "armoire_fetch_failures_total", 'reason="timeout"')).toBe(3);
  expect(metricValue(text, "armoire_runs_total", 'outcome="complete"')).toBe(1);
});

it("/metrics has the age of the oldest waiting job, by queue and principal", async () => {
  await using own = await startRedis();
  await using worker = await startDashboardWorker(own, [catalogueAt("http://127.0.0.1:9/")]);
  const { client, end } = await connectRedis(own.url);
  const queue = openQueue(client, fetchQueueName({ ...catalogueAt("http://127.0.0.1:9/"), name: "ada" }));
  await queue.add("bra", {}, { timestamp: Date.now() - 90_000 });
  const text = await (await fetch(`${worker.url}metrics`)).text();
  expect(metricValue(text, "armoire_queue_oldest_job_age_seconds", 'principal="ada"')).toBeGreaterThanOrEqual(
    90,
  );
  expect(metricValue(text, "armoire_queue_oldest_job_age_seconds", 'principal="catalogue"')).toBe(0);
  await queue.close();
  end();
});

it("it has no pages, and another host name gets nothing", async () => {
  await using worker = await startDashboardWorker(redis, [catalogueAt("http://127.0.0.1:9/")]);
  for (const path of ["", "api/queues", "queues"])
    expect(await get(`${worker.url}${path}`)).toMatchObject({ status: 404 });
  for (const path of ["", "metrics", "healthz"])
    expect(await get(`${worker.url}${path}`, { headers: { host: "evil.example" } })).toMatchObject({
      status: 403,
    });
});

it("/healthz reports a full Redis until it has room", async () => {
  await using own = await startRedis();
  await using worker = await startDashboardWorker(own, [catalogueAt("http://127.0.0.1:9/")]);
  await own.admin.config("SET", "maxmemory", "1");
  const { status, text } = await get(`${worker.url}healthz`);
  expect([status, JSON.parse(text).problems]).toEqual([503, [`Redis at ${own.url} is full`]]);
  await own.admin.config("SET", "maxmemory", "0");
  expect((await get(`${worker.url}healthz`)).status).toBe(200);
});

it("/healthz warns of jobs that wait for workers of another version", async () => {
  await using own = await startRedis();
  const service = catalogueAt("http://127.0.0.1:9/");
  await using worker = await startDashboardWorker(own, [service]);
  const { client, end } = await connectRedis(own.url);
  const queue = openQueue(client, fetchQueueName(service, payloadVersion + 1));
  await queue.add("model", {});
  const { status, text } = await get(`${worker.url}healthz`);
  expect([status, JSON.parse(text).warnings]).toEqual([
    200,
    [`jobs wait in ${queue.name} for workers of another version of Armoire`],
  ]);
  await queue.close();
  end();
});

it("an unreachable Redis is reported at once, until it is back", async () => {
  await using own = await startRedis();
  await using worker = await startDashboardWorker(own, [catalogueAt("http://127.0.0.1:9/")]);
  expect(await get(`${worker.url}healthz`)).toMatchObject({
    status: 200,
    text: '{"ok":true,"problems":[],"warnings":[]}',
  });
  await own.kill();
  await expect.poll(async () => (await get(`${worker.url}healthz`)).status).toBe(503);
  expect(JSON.parse((await get(`${worker.url}healthz`)).text)).toEqual({
    ok: false,
    problems: [`Redis at ${own.url} does not respond`],
    warnings: [],
  });
  expect(metricValue((await get(`${worker.url}metrics`)).text, "armoire_redis_up")).toBe(0);
  await own.start();
  await expect.poll(async () => (await get(`${worker.url}healthz`)).status).toBe(200);
});

it("a Redis that accepts connections but does not respond is reported", async () => {
  await using own = await startRedis();
  await using worker = await startDashboardWorker(own, [catalogueAt("http://127.0.0.1:9/")]);
  own.signal("SIGSTOP");
  expect((await get(`${worker.url}healthz`)).status).toBe(503);
  own.signal("SIGCONT");
  await expect.poll(async () => (await get(`${worker.url}healthz`)).status).toBe(200);
});

it("listening on a foreign address fails with a hint", async () => {
  const started = startDashboardWorker(redis, [catalogueAt("http://127.0.0.1:9/")], { host: "192.0.2.1" });
  await expect(started).rejects.toMatchObject({
    hint: "Give an address of this machine to --dashboard-host.",
  });
});

it("listening on a used port fails, and stops the worker", async () => {
  await using worker = await startDashboardWorker(redis, [catalogueAt("http://127.0.0.1:9/")]);
  const port = Number(new URL(worker.url).port);
  await expect(
    startDashboardWorker(redis, [catalogueAt("http://127.0.0.1:9/")], { port }),
  ).rejects.toMatchObject({
    name: "DashboardError",
    message: expect.stringContaining(`127.0.0.1 port ${port}`),
  });
});

it("no page and no key in Redis contains a credential", async () => {
  await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, users: 1 });
  const [user] = sandbox.users;
  const token = user?.token ?? "";
  await using rig = await startRig();
  const credential = bearerToken(token);
  await using worker = await startDashboardWorker(redis, [{ name: "ada", baseUrl: sandbox.url, credential }]);
  const warnings: string[] = [];
  const dumps: Promise<string>[] = [];
  await rig.sync({
    ...{ baseUrl: sandbox.url, credential, area: "account" },
    workers: { redis: redis.url, principal: "ada", onWarning: (text) => void warnings.push(text) },
    onProgress: () => void dumps.push(dumpRedis(redis)),
  });
  const pages = ["metrics", "healthz"].map(async (path) => (await get(worker.url + path)).text);
  const texts = [...warnings, ...(await Promise.all([...dumps, dumpRedis(redis), ...pages]))].join("\n");
  expect(texts).toContain("fetch-ada@");
  for (const { form, bytes } of secretEncodings(token))
    expect({ form, at: texts.indexOf(bytes.toString("latin1")) }).toEqual({ form, at: -1 });
});

async function dumpRedis({ admin }: RedisServer): Promise<string> {
  const keys = await admin.keys("*");
  const dumps = await Promise.all(keys.map((key) => admin.dumpBuffer(key)));
  return [...keys, ...dumps.map((dump) => dump?.toString("latin1") ?? "")].join("\n");
}
