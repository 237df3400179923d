import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ExecuteJob, FetchJob, JobResult } from "../../../jobs/fetch-job.ts";
import { throttleConditionalRequests } from "../../../src/sync/run/throttle-checks.ts";
import { startRedis } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { startRig } from "../support/rig.ts";

const jobOf = (resourceId: number, etag: string | null = '"e"'): FetchJob => ({
  ...{ resourceId, etag },
  url: `https://api.example/${resourceId}`,
});

/** An executor whose jobs end one by one, on demand. */
function startJobs(concurrency: number) {
  const started: number[] = [];
  const ends = new Map<number, () => void>();
  const execute: ExecuteJob = async (job) => {
    started.push(job.resourceId);
    await new Promise<void>((resolve) => ends.set(job.resourceId, resolve));
    return { status: "cancelled", job } satisfies JobResult;
  };
  const clock = { now: () => 0, random: () => 0, sleep: async () => {} };
  const throttled = throttleConditionalRequests(execute, clock, concurrency);
  const { signal } = new AbortController();
  return {
    started,
    start: (job: FetchJob) => void throttled(job, signal),
    async end(id: number) {
      ends.get(id)?.();
      await setImmediate();
    },
  };
}

it.each([1, 3])(
  "at most %i checks run at a time, in their order; other requests do not wait",
  async (limit) => {
    const { started, start, end } = startJobs(limit);
    for (let id = 1; id <= 6; id++) start(jobOf(id));
    start(jobOf(99, null));
    await setImmediate();
    const first = Array.from({ length: limit }, (_, n) => n + 1);
    expect([...started].sort((a, b) => a - b)).toEqual([...first, 99]);
    for (let id = 1; id <= 6; id++) {
      await end(id);
      expect(started.filter((started) => started !== 99)).toHaveLength(Math.min(6, id + limit));
    }
    expect(started.filter((id) => id !== 99)).toEqual([1, 2, 3, 4, 5, 6]);
  },
);

describe("with a sandbox", () => {
  const size = { brands: 4, models: 12, sizes: 30 };

  it("checks run side by side, find the same changes, and stay within the allowance while their price is learned", async () => {
    const syncs = [1, 8].map(async (checkConcurrency) => {
      await using rig = await startRig({ ...size, countNotModified: true, allowance: 90 });
      await rig.sync({ checkConcurrency });
      rig.sandbox.advance({ changes: 6 });
      rig.sandbox.moveClock({ advanceSeconds: 86_400 });
      rig.sandbox.clearLog();
      const report = await rig.sync({ checkConcurrency });
      expect(rig.sandbox.log().filter(({ status }) => status === 429)).toEqual([]);
      return { ...report.resources, stopped: report.stopped };
    });
    const [alone, sideBySide] = await Promise.all(syncs);
    expect(sideBySide).toEqual(alone);
  });

  it("a verification by workers with several checks at a time is complete", async () => {
    await using redis = await startRedis();
    await using rig = await startRig({ ...size, latencyMillis: 40 });
    await using _workers = await startFetchWorkers(2, {
      redis: redis.url,
      principals: [catalogueAt(rig.sandbox.url)],
    });
    await rig.sync({ workers: { redis: redis.url } });
    rig.sandbox.clearLog();
    const report = await rig.sync({ mode: "verify", checkConcurrency: 8, workers: { redis: redis.url } });
    expect(report).toMatchObject({ complete: true, resources: { failed: 0, notChecked: 0, pending: 0 } });
    expect(rig.sandbox.log().filter(({ status }) => status === 304).length).toBeGreaterThan(40);
  });
});
