/**
 * The contract of an engine (`jobs/engine.ts`) as a test suite, called for each engine. Jobs end when the test says
 * so: nothing depends on real time.
 */
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Engine, JobSource } from "../../../jobs/engine.ts";
import type { ExecuteJob, FetchJob, JobResult } from "../../../jobs/fetch-job.ts";

export interface EngineOptions {
  /** Jobs running at a time. */
  readonly concurrency: number;
  /** The maximum number of results in a batch. */
  readonly batchSize: number;
}

export type CreateEngine = (execute: ExecuteJob, options: EngineOptions) => Engine;

export function describeEngineConformance(name: string, createEngine: CreateEngine): void {
  describe(`the engine contract: ${name}`, () => {
    const start = (concurrency: number, batchSize = 10) => {
      const jobs = createControlledJobs();
      return { ...jobs, engine: createEngine(jobs.execute, { concurrency, batchSize }) };
    };
    const never = new AbortController().signal;

    it("each job has exactly one result, in batches of limited size, with limited concurrency", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 8 }),
          fc.integer({ min: 1, max: 6 }),
          fc.array(fc.nat(3), { maxLength: 40 }),
          async (concurrency, batchSize, turnsOfJobs) => {
            let running = 0;
            let maxRunning = 0;
            const execute: ExecuteJob = async (job) => {
              maxRunning = Math.max(maxRunning, ++running);
              for (let turns = turnsOfJobs[job.resourceId] ?? 0; turns > 0; turns--) await turn();
              running--;
              return resultOf(job);
            };
            const source = listSource(turnsOfJobs.map((_, n) => n));
            const finished: number[] = [];
            for await (const batch of createEngine(execute, { concurrency, batchSize }).run(source, never)) {
              expect(batch.length).toBeGreaterThan(0);
              expect(batch.length).toBeLessThanOrEqual(batchSize);
              finished.push(...batch.map(({ job }) => job.resourceId));
              await turn();
            }
            expect(finished.sort((a, b) => a - b)).toEqual(turnsOfJobs.map((_, n) => n));
            expect(maxRunning).toBeLessThanOrEqual(concurrency);
          },
        ),
        { numRuns: 25 },
      );
    });

    it("an engine never requests more jobs than it can start", async () => {
      const { engine, finishAll, untilStarted } = start(3);
      const limits: number[] = [];
      const source = listSource([1, 2, 3, 4, 5, 6, 7]);
      const recording = {
        next(limit: number) {
          limits.push(limit);
          return source.next(limit);
        },
      };
      const running = collect(engine, recording, never);
      await untilStarted(3);
      expect(Math.max(...limits)).toBeLessThanOrEqual(3);
      finishAll();
      expect(await running).toHaveLength(7);
    });

    it("an engine runs as many jobs as its concurrency allows while jobs are available", async () => {
      const { engine, finish, finishAll, started, untilStarted } = start(3);
      const running = collect(engine, listSource([1, 2, 3, 4, 5]), never);
      await untilStarted(3);
      expect(started).toEqual([1, 2, 3]);
      finish(2);
      await untilStarted(4);
      expect(started).toEqual([1, 2, 3, 4]);
      finishAll();
      expect(await running).toHaveLength(5);
    });

    it("an engine ends at once without jobs", async () => {
      const { engine } = start(3);
      expect(await collect(engine, listSource([]), never)).toEqual([]);
    });

    it("an engine yields finished results while other jobs run, and then pulls again from an empty source", async () => {
      const { engine, finish, finishAll, untilStarted } = start(4);
      const source = listSource([1, 2]);
      const batches = engine.run(source, never)[Symbol.asyncIterator]();
      const first = batches.next();
      await untilStarted(2);
      finish(1);
      // Job 2 is still running: jobs that follow from job 1 must not wait for it.
      expect(idsOf((await first).value)).toEqual([1]);
      source.add(3);
      const second = batches.next();
      await untilStarted(3);
      finish(3);
      expect(idsOf((await second).value)).toEqual([3]);
      finishAll();
      expect(idsOf((await batches.next()).value)).toEqual([2]);
      expect((await batches.next()).done).toBe(true);
    });

    it("an engine pulls from the source again after every batch, including the last", async () => {
      const { engine, finishAll } = start(2);
      finishAll();
      const source = listSource([1]);
      const finished: number[] = [];
      for await (const batch of engine.run(source, never)) {
        for (const id of idsOf(batch)) {
          finished.push(id);
          if (id < 16) source.add(2 * id, 2 * id + 1);
        }
      }
      expect(finished.sort((a, b) => a - b)).toEqual(Array.from({ length: 31 }, (_, n) => n + 1));
    });

    it("an engine can run several times in sequence", async () => {
      const { engine, finishAll } = start(2);
      finishAll();
      expect(await collect(engine, listSource([1, 2, 3]), never)).toHaveLength(3);
      expect(await collect(engine, listSource([4, 5]), never)).toHaveLength(2);
    });

    it("an engine ends after a cancellation, with a result for each running job", async () => {
      const { engine, finish, untilStarted } = start(3);
      const cancel = new AbortController();
      const source = listSource([1, 2, 3, 4, 5]);
      const stoppable = { next: (limit: number) => (cancel.signal.aborted ? [] : source.next(limit)) };
      const running = collect(engine, stoppable, cancel.signal);
      await untilStarted(3);
      finish(1);
      await untilStarted(4);
      cancel.abort();
      const results = await running;
      expect(results.map(({ job, status }) => [job.resourceId, status]).sort()).toEqual([
        [1, "fetched"],
        [2, "cancelled"],
        [3, "cancelled"],
        [4, "cancelled"],
      ]);
    });

    it("an engine rejects with the error of a job that threw, after all finished results are yielded", async () => {
      const { engine, fail, finish, untilStarted } = start(3);
      const source = listSource([1, 2, 3]);
      const finished: number[] = [];
      const running = (async () => {
        for await (const batch of engine.run(source, never)) finished.push(...idsOf(batch));
      })();
      await untilStarted(3);
      fail(2, new Error("the disk is on fire"));
      await turn();
      source.add(4);
      finish(1);
      finish(3);
      await expect(running).rejects.toThrow("the disk is on fire");
      expect(finished.sort()).toEqual([1, 3]);
      expect(source.returnedCount).toBe(3);
    });

    it.each([1, 3])(
      "an engine rejects with the error of a source that throws at call %i",
      async (failingCall) => {
        const { engine, finishAll } = start(2);
        finishAll();
        let calls = 0;
        const source = listSource([1, 2, 3, 4, 5, 6]);
        const failing = {
          next(limit: number) {
            if (++calls === failingCall) throw new Error("the mirror is closed");
            return source.next(Math.min(limit, 1));
          },
        };
        await expect(collect(engine, failing, never)).rejects.toThrow("the mirror is closed");
      },
    );

    it("an engine pulls no more jobs once its caller stops iterating", async () => {
      const { engine, finishAll } = start(2, 1);
      finishAll();
      const source = listSource(Array.from({ length: 500 }, (_, n) => n));
      for await (const _ of engine.run(source, never)) break;
      const { returnedCount } = source;
      await turns(20);
      expect(source.returnedCount).toBe(returnedCount);
    });

    it("an engine limits the number of unread results while its caller is busy", async () => {
      const concurrency = 3;
      const batchSize = 5;
      const { engine, finishAll } = start(concurrency, batchSize);
      finishAll();
      const source = listSource(Array.from({ length: 200 }, (_, n) => n));
      let received = 0;
      for await (const batch of engine.run(source, never)) {
        received += batch.length;
        if (received < 100) await turns(50);
        expect(source.returnedCount - received).toBeLessThanOrEqual(3 * batchSize + concurrency);
      }
      expect(received).toBe(200);
    });
  });
}

const idsOf = (batch: readonly JobResult[]): number[] => batch.map(({ job }) => job.resourceId);

async function collect(engine: Engine, source: JobSource, signal: AbortSignal): Promise<JobResult[]> {
  const results: JobResult[] = [];
  for await (const batch of engine.run(source, signal)) results.push(...batch);
  return results;
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await turn();
}

function resultOf(job: FetchJob): JobResult {
  const common = { resourceId: job.resourceId, fetchedAt: "2026-01-15T12:00:00.000Z" };
  return { status: "fetched", job, result: { ...common, outcome: "not-modified" } };
}

interface ListSource extends JobSource {
  readonly returnedCount: number;
  add(...ids: readonly number[]): void;
}

function listSource(ids: readonly number[]): ListSource {
  const remaining = [...ids];
  let returnedCount = 0;
  return {
    get returnedCount() {
      return returnedCount;
    },
    add: (...more) => void remaining.push(...more),
    next(limit) {
      const jobs = remaining
        .splice(0, limit)
        .map((id) => ({ resourceId: id, url: `https://x.example/${id}/`, etag: null }));
      returnedCount += jobs.length;
      return jobs;
    },
  };
}

interface ControlledJobs {
  readonly execute: ExecuteJob;
  /** The ids of started jobs, in order. */
  readonly started: readonly number[];
  untilStarted(count: number): Promise<void>;
  finish(id: number): void;
  fail(id: number, error: Error): void;
  /** Finishes all running jobs, and later ones within a turn of the event loop. */
  finishAll(): void;
}

/** Jobs that run until the test ends them. */
function createControlledJobs(): ControlledJobs {
  const started: number[] = [];
  const ends = new Map<number, { finish: () => void; fail: (error: Error) => void }>();
  let waiters: { count: number; resolve: () => void }[] = [];
  let isAutomatic = false;

  const noteStart = (id: number) => {
    started.push(id);
    for (const { count, resolve } of waiters) if (started.length >= count) resolve();
    waiters = waiters.filter(({ count }) => started.length < count);
  };

  return {
    started,
    async execute(job, signal) {
      noteStart(job.resourceId);
      if (isAutomatic) {
        await turn();
        return resultOf(job);
      }
      return await new Promise<JobResult>((resolve, reject) => {
        ends.set(job.resourceId, { finish: () => resolve(resultOf(job)), fail: reject });
        signal.addEventListener("abort", () => resolve({ status: "cancelled", job }));
      });
    },
    untilStarted: (count) =>
      started.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiters.push({ count, resolve });
          }),
    finish: (id) => ends.get(id)?.finish(),
    fail: (id, error) => ends.get(id)?.fail(error),
    finishAll() {
      isAutomatic = true;
      for (const { finish } of ends.values()) finish();
    },
  };
}
