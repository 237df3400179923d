/** The job that shows a run: what an operator reads there, and what it must not hold. */
import { expect, it } from "vitest";
import { type Principal, runQueueName } from "../../../jobs/bullmq/queue-names.ts";
import { openQueue } from "../../../jobs/bullmq/queues.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { startRig } from "../support/rig.ts";

const world = { brands: 8, models: 40, sizes: 120 };

/** The jobs of a principal's ended runs with their logs, oldest first. */
async function readRuns(redis: RedisServer, principal: Principal) {
  const { client, end } = await connectRedis(redis.url);
  const queue = openQueue(client, runQueueName(principal));
  const jobs = await queue.getJobs(["completed", "failed"], 0, -1, true);
  const runs = await Promise.all(
    jobs.map(async ({ id = "", name, data, progress, returnvalue, failedReason }) => {
      const { logs } = await queue.getJobLogs(id);
      const lines = logs.map((line) => /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ (.*)$/.exec(line)?.[1]);
      return { name, data, progress, returnvalue, failedReason, logs: lines };
    }),
  );
  await queue.close();
  end();
  return runs;
}

it("a run of the catalogue is a job with its scope, its failures and its report, without paths", async () => {
  await using redis = await startRedis();
  await using rig = await startRig({
    ...world,
    faults: [{ kind: "model", positions: [1], times: "always", fault: "status", status: 400 }],
  });
  const catalogue = catalogueAt(rig.sandbox.url);
  await using _workers = await startFetchWorkers(1, { redis: redis.url, principals: [catalogue] });
  const report = await rig.sync({ workers: { redis: redis.url }, budget: 1_000, depth: "models" });
  const [run] = await readRuns(redis, catalogue);
  const { mirror, ...shown } = report;
  expect(run).toMatchObject({
    name: "sync catalogue",
    data: { run: report.run, mode: "incremental", depth: "models", budget: 1_000 },
    returnvalue: { outcome: "incomplete", ...shown },
  });
  const held = rig.read(({ db }) =>
    db.prepare("select count(*) from _resource where state = 'held'").pluck().get(),
  );
  // Of the end, however lately it was shown before.
  expect(run?.progress).toMatchObject({ held, counted: report.requests.counted, estimatedEnd: null });
  expect(run?.logs).toEqual([
    expect.stringMatching(/^failed: model .+ › .+: unexpected-status: .*400.* \(http\S+\)$/),
    "failed resources: 1",
    "ended: nothing is left to do",
  ]);
  expect(JSON.stringify(run)).not.toContain(mirror);
});

it("the log of a run has the pause that the service asked for, and why the run stopped", async () => {
  await using redis = await startRedis();
  await using rig = await startRig({
    ...{ ...world, allowance: 40 },
    faults: [{ kind: "brands", positions: [1], fault: "status", status: 429, retryAfter: "1" }],
  });
  const catalogue = catalogueAt(rig.sandbox.url);
  await using _workers = await startFetchWorkers(1, { redis: redis.url, principals: [catalogue] });
  const { resumeAt } = await rig.sync({ workers: { redis: redis.url } });
  const [run] = await readRuns(redis, catalogue);
  expect(run?.returnvalue.outcome).toBe("allowance");
  expect(run?.logs).toEqual([
    expect.stringMatching(/^paused until 20\S+Z: the service asked to wait$/),
    `stopped: allowance; more from ${resumeAt} on`,
  ]);
});

it("a run that fails is a failed job with the reason", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  const catalogue = catalogueAt(rig.sandbox.url);
  await using _workers = await startFetchWorkers(1, { redis: redis.url, principals: [catalogue] });
  const failing = rig.sync({ workers: { redis: redis.url }, brands: ["no such brand"] });
  await expect(failing).rejects.toMatchObject({ code: "unknown-brand" });
  const [run] = await readRuns(redis, catalogue);
  expect(run).toMatchObject({
    name: "sync catalogue",
    failedReason: expect.stringContaining("no such brand"),
  });
});

it("the job of an account's run has only its outcome", async () => {
  await using redis = await startRedis();
  await using rig = await startRig({
    ...world,
    faults: [{ kind: "bra", positions: [1], times: "always", fault: "status", status: 400 }],
  });
  const account = (token: string) => ({
    name: "anna",
    baseUrl: rig.sandbox.url,
    credential: bearerToken(token),
  });
  const anna = account(rig.sandbox.users[0]?.token ?? "");
  const wrong = account("canary-0123456789abcdef");
  const principals = [anna, { ...wrong }];
  for (const principal of principals) {
    await using _workers = await startFetchWorkers(1, { redis: redis.url, principals: [principal] });
    const { credential } = principal;
    const workers = { redis: redis.url, principal: "anna" };
    await rig.sync({ workers, credential, area: "account" }).catch(() => {});
  }
  expect(await readRuns(redis, anna)).toEqual([
    {
      ...{ name: "sync account", data: {}, progress: 0, logs: [], failedReason: undefined },
      returnvalue: { outcome: "incomplete" },
    },
    {
      ...{ name: "sync account", data: {}, progress: 0, logs: [], returnvalue: null },
      failedReason: "not-authenticated",
    },
  ]);
});
