/** Runs as jobs, with a real Redis. */
import { Queue } from "bullmq";
import { expect, it } from "vitest";
import { keyPrefix, runQueueName } from "../../../../jobs/bullmq/queue-names.ts";
import { connectRedis, type RedisConnection } from "../../../../jobs/bullmq/redis.ts";
import { openRunJob, type RunJob } from "../../../../jobs/bullmq/runs/run-job.ts";
import { coordinatorEnded, openRunQueue } from "../../../../jobs/bullmq/runs/run-queue.ts";
import { type RedisServer, startRedis } from "../../../support/redis.ts";
import { principal } from "../../support/bullmq-rig.ts";

interface Rig extends AsyncDisposable {
  readonly redis: RedisServer;
  readonly jobs: Queue;
  /** A coordinator, with a connection of its own. */
  startRun(data: object): Promise<RunJob & { readonly connection: RedisConnection }>;
}

async function startRig(): Promise<Rig> {
  const redis = await startRedis();
  const connections: RedisConnection[] = [];
  const runs: RunJob[] = [];
  const connect = async () => {
    const connection = await connectRedis(redis.url);
    connections.push(connection);
    return connection;
  };
  const jobs = new Queue(runQueueName(principal), {
    connection: (await connect()).client,
    prefix: keyPrefix,
  });
  jobs.on("error", () => {});
  return {
    redis,
    jobs,
    async startRun(data) {
      const connection = await connect();
      const queue = openRunQueue(connection, principal);
      const clock = { now: () => Date.UTC(2026, 10, 25, 6, 30, 1, 999) };
      const run = openRunJob({ client: connection.client, queue, name: "sync catalogue", data, clock });
      runs.push(run);
      return { ...run, connection };
    },
    async [Symbol.asyncDispose]() {
      for (const run of runs) await run.end({ status: "failed", reason: "the test is over" });
      await jobs.close();
      for (const { end } of connections) end();
      await redis[Symbol.asyncDispose]();
    },
  };
}

const complete = { status: "completed", returnValue: { outcome: "complete" } } as const;
const activeCount = (rig: Rig) => expect.poll(() => rig.jobs.getActiveCount());

it("a run is an active job with progress and log, and then a completed one with its report", async () => {
  await using rig = await startRig();
  const run = await rig.startRun({ run: 1 });
  run.log("paused");
  run.log("continued");
  await expect
    .poll(async () => {
      run.update(() => ({ progress: 40 }));
      return (await rig.jobs.getActive())[0]?.progress;
    })
    .toEqual({ progress: 40 });
  await run.end(complete, { progress: 100 });
  const [job] = await rig.jobs.getCompleted();
  expect(job).toMatchObject({
    ...{ name: "sync catalogue", data: { run: 1 }, progress: { progress: 100 } },
    returnvalue: { outcome: "complete" },
  });
  expect((await rig.jobs.getJobLogs(job?.id ?? "")).logs).toEqual([
    "2026-11-25T06:30:01Z paused",
    "2026-11-25T06:30:01Z continued",
  ]);
});

it("a failed run is a failed job with its reason", async () => {
  await using rig = await startRig();
  const run = await rig.startRun({ run: 1 });
  await run.end({ status: "failed", reason: "the service does not respond" });
  const [job] = await rig.jobs.getFailed();
  expect(job).toMatchObject({ failedReason: "the service does not respond", stacktrace: [] });
});

it("each of several coordinators that start at once processes its own job", async () => {
  await using rig = await startRig();
  const runs = await Promise.all(Array.from({ length: 6 }, (_, n) => rig.startRun({ run: n })));
  await activeCount(rig).toBe(6);
  await Promise.all(runs.map((run, n) => run.end({ status: "completed", returnValue: { run: n } })));
  const jobs = await rig.jobs.getCompleted();
  expect(jobs.map(({ data }) => data.run).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  for (const { data, returnvalue } of jobs) expect(returnvalue).toEqual(data);
});

it("the run of a coordinator that has ended becomes a failed job, although no other run starts", async () => {
  await using rig = await startRig();
  const killed = await rig.startRun({ run: 1 });
  await activeCount(rig).toBe(1);
  killed.connection.end();
  const watching = await connectRedis(rig.redis.url);
  const queue = openRunQueue(watching, principal);
  const [job] = await rig.jobs.getActive();
  // Its lock would expire within 15 seconds.
  await rig.redis.admin.del(`${rig.jobs.toKey(job?.id ?? "")}:lock`);
  await expect
    .poll(async () => (await rig.jobs.getFailed()).map(({ failedReason }) => failedReason))
    .toEqual([coordinatorEnded]);
  await queue.close();
  watching.end();
});

it("a job that waits without a coordinator delays no other run", async () => {
  await using rig = await startRig();
  await rig.jobs.add("sync catalogue", { run: 1 }, { timestamp: Date.now() - 3_600_000 });
  await rig.jobs.add("sync catalogue", { run: 2 });
  const run = await rig.startRun({ run: 3 });
  await run.end(complete);
  expect((await rig.jobs.getCompleted()).map(({ data }) => data)).toEqual([{ run: 3 }]);
  expect((await rig.jobs.getWaiting()).map(({ data }) => data.run).sort()).toEqual([1, 2]);
});

it("if Redis loses the job of a run, another one shows how the run ended", async () => {
  await using rig = await startRig();
  const run = await rig.startRun({ run: 1 });
  await activeCount(rig).toBe(1);
  await rig.redis.admin.flushall();
  await run.end(complete);
  expect((await rig.jobs.getCompleted()).map(({ data, returnvalue }) => ({ data, returnvalue }))).toEqual([
    { data: { run: 1 }, returnvalue: { outcome: "complete" } },
  ]);
});

it("the end of a run does not wait for an unreachable or frozen Redis", async () => {
  await using rig = await startRig();
  const [gone, frozen] = [await rig.startRun({ run: 1 }), await rig.startRun({ run: 2 })];
  await activeCount(rig).toBe(2);
  rig.redis.signal("SIGSTOP");
  frozen.log("a line");
  await frozen.end(complete);
  await rig.redis.kill();
  gone.update(() => ({ progress: 1 }));
  await gone.end(complete);
  await rig.redis.start();
});

it("a paused queue delays no run, and shows none", async () => {
  await using rig = await startRig();
  await rig.jobs.pause();
  const run = await rig.startRun({ run: 1 });
  await run.end(complete);
  expect(await rig.jobs.getJobCounts()).toMatchObject({ active: 0, completed: 0, waiting: 0 });
});
