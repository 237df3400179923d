import { expect, it, onTestFinished, vi } from "vitest";
import { createEngine } from "../../jobs/engine.ts";
import type { ExecuteJob, FetchJob } from "../../jobs/fetch-job.ts";
import { describeEngineConformance } from "./support/engine-conformance.ts";

describeEngineConformance("the inline engine", createEngine);

it("with all capacity in use, a result waits at most 50 milliseconds for its batch, and the time that storing takes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const [responseMillis, storeMillis] = [3, 8];
  const finishedAt = new Map<number, number>();
  const execute: ExecuteJob = async (job) => {
    await delay(responseMillis);
    finishedAt.set(job.resourceId, Date.now());
    return { job, status: "cancelled" };
  };
  let count = 0;
  const next = (limit: number): FetchJob[] =>
    Array.from({ length: Math.min(limit, 600 - count) }, () => {
      return { resourceId: ++count, url: `https://api.example/${count}`, etag: null };
    });
  const ages: number[] = [];
  let hasEnded = false;
  const stored = (async () => {
    for await (const batch of createEngine(execute, { concurrency: 4 }).run(
      { next },
      new AbortController().signal,
    )) {
      await delay(storeMillis);
      for (const { job } of batch) ages.push(Date.now() - (finishedAt.get(job.resourceId) ?? 0));
    }
  })().finally(() => {
    hasEnded = true;
  });
  // Not all timers: a client that an earlier test of this process left may set one again and again.
  while (!hasEnded) await vi.advanceTimersByTimeAsync(1);
  await stored;
  expect(ages).toHaveLength(600);
  // While one batch is stored, results wait that may begin the next.
  expect(Math.max(...ages)).toBeLessThanOrEqual(50 + 2 * storeMillis);
});

const delay = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));
