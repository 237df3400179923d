/**
 * What every engine keeps to (`jobs/engine.ts`), as a suite to be called for each of them. Jobs are carried out when the
 * test says so: nothing here waits for time to pass.
 */
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Engine, JobSource } from "../../jobs/engine.ts";
import type { ExecuteJob, FetchJob, JobResult } from "../../jobs/fetch-job.ts";

export interface EngineOptions {
  /** Jobs under way at a time. */
  readonly concurrency: number;
  /** Results handed over together at most. */
  readonly batchSize: number;
}

export type CreateEngine = (carryOut: ExecuteJob, options: EngineOptions) => Engine;

export function describeEngineConformance(name: string, createEngine: CreateEngine): void {
  // An engine that breaks its contract mostly waits for ever.
  describe(`the engine contract, kept by ${name}`, { timeout: 5000 }, () => {
    const start = (concurrency: number, batchSize = 10) => {
      const workshop = openWorkshop();
      return { ...workshop, engine: createEngine(workshop.carryOut, { concurrency, batchSize }) };
    };
    const never = new AbortController().signal;

    it("answers each job exactly once, in batches of the agreed size, with no more under way than agreed", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 8 }),
          fc.integer({ min: 1, max: 6 }),
          fc.array(fc.nat(3), { maxLength: 40 }),
          async (concurrency, batchSize, turnsOfJobs) => {
            let underWay = 0;
            let mostUnderWay = 0;
            const carryOut: ExecuteJob = async (job) => {
              mostUnderWay = Math.max(mostUnderWay, ++underWay);
              for (let turns = turnsOfJobs[job.resourceId] ?? 0; turns > 0; turns--) await turn();
              underWay--;
              return answerOf(job);
            };
            const source = listSource(turnsOfJobs.map((_, n) => n));
            const answered: number[] = [];
            for await (const batch of createEngine(carryOut, { concurrency, batchSize }).run(source, never)) {
              expect(batch.length).toBeGreaterThan(0);
              expect(batch.length).toBeLessThanOrEqual(batchSize);
              answered.push(...batch.map(({ job }) => job.resourceId));
              await turn();
            }
            expect(answered.sort((a, b) => a - b)).toEqual(turnsOfJobs.map((_, n) => n));
            expect(mostUnderWay).toBeLessThanOrEqual(concurrency);
          },
        ),
        { numRuns: 25 },
      );
    });

    it("asks for no more jobs than it can begin", async () => {
      const { engine, finishAll, untilStarted } = start(3);
      const limits: number[] = [];
      const source = listSource([1, 2, 3, 4, 5, 6, 7]);
      const asking = {
        next(limit: number) {
          limits.push(limit);
          return source.next(limit);
        },
      };
      const running = collect(engine, asking, never);
      await untilStarted(3);
      expect(Math.max(...limits)).toBeLessThanOrEqual(3);
      finishAll();
      expect(await running).toHaveLength(7);
    });

    it("has as many under way as agreed while there is enough to do", async () => {
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

    it("ends at once where there is nothing to do", async () => {
      const { engine } = start(3);
      expect(await collect(engine, listSource([]), never)).toEqual([]);
    });

    it("hands over what it has while the source is momentarily empty, and asks again after that", async () => {
      const { engine, finish, finishAll, untilStarted } = start(4);
      const source = listSource([1, 2]);
      const batches = engine.run(source, never)[Symbol.asyncIterator]();
      const first = batches.next();
      await untilStarted(2);
      finish(1);
      // Job 2 is still under way: what job 1 leads to must not wait for it.
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

    it("asks the source again after every batch, to the last", async () => {
      const { engine, finishAll } = start(2);
      finishAll();
      const source = listSource([1]);
      const answered: number[] = [];
      for await (const batch of engine.run(source, never)) {
        for (const id of idsOf(batch)) {
          answered.push(id);
          if (id < 16) source.add(2 * id, 2 * id + 1);
        }
      }
      expect(answered.sort((a, b) => a - b)).toEqual(Array.from({ length: 31 }, (_, n) => n + 1));
    });

    it("can run again, one run after the other", async () => {
      const { engine, finishAll } = start(2);
      finishAll();
      expect(await collect(engine, listSource([1, 2, 3]), never)).toHaveLength(3);
      expect(await collect(engine, listSource([4, 5]), never)).toHaveLength(2);
    });

    it("answers what is under way when it is cancelled, and ends", async () => {
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

    it("ends with the error of a job that could not be carried out, after all that was finished is handed over", async () => {
      const { engine, fail, finish, untilStarted } = start(3);
      const source = listSource([1, 2, 3]);
      const answered: number[] = [];
      const running = (async () => {
        for await (const batch of engine.run(source, never)) answered.push(...idsOf(batch));
      })();
      await untilStarted(3);
      fail(2, new Error("the disk is on fire"));
      await turn();
      source.add(4);
      finish(1);
      finish(3);
      await expect(running).rejects.toThrow("the disk is on fire");
      expect(answered.sort()).toEqual([1, 3]);
      expect(source.given).toBe(3);
    });

    it.each([1, 3])(
      "ends with the error of a source that fails when it is asked at call %i",
      async (time) => {
        const { engine, finishAll } = start(2);
        finishAll();
        let asked = 0;
        const source = listSource([1, 2, 3, 4, 5, 6]);
        const failing = {
          next(limit: number) {
            if (++asked === time) throw new Error("the mirror is closed");
            return source.next(Math.min(limit, 1));
          },
        };
        await expect(collect(engine, failing, never)).rejects.toThrow("the mirror is closed");
      },
    );

    it("asks for nothing more once its caller has left", async () => {
      const { engine, finishAll } = start(2, 1);
      finishAll();
      const source = listSource(Array.from({ length: 500 }, (_, n) => n));
      for await (const _ of engine.run(source, never)) break;
      const { given } = source;
      await turns(20);
      expect(source.given).toBe(given);
    });

    it("begins no more than it may hold while its caller is busy with a batch", async () => {
      const concurrency = 3;
      const batchSize = 5;
      const { engine, finishAll } = start(concurrency, batchSize);
      finishAll();
      const source = listSource(Array.from({ length: 200 }, (_, n) => n));
      let taken = 0;
      for await (const batch of engine.run(source, never)) {
        taken += batch.length;
        if (taken < 100) await turns(50);
        expect(source.given - taken).toBeLessThanOrEqual(3 * batchSize + concurrency);
      }
      expect(taken).toBe(200);
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

function answerOf(job: FetchJob): JobResult {
  const about = { resourceId: job.resourceId, fetchedAt: "2026-01-15T12:00:00.000Z" };
  return { status: "fetched", job, result: { ...about, outcome: "not-modified" } };
}

interface ListSource extends JobSource {
  /** How many jobs it gave. */
  readonly given: number;
  add(...ids: readonly number[]): void;
}

function listSource(ids: readonly number[]): ListSource {
  const left = [...ids];
  let given = 0;
  return {
    get given() {
      return given;
    },
    add: (...more) => void left.push(...more),
    next(limit) {
      const jobs = left
        .splice(0, limit)
        .map((id) => ({ resourceId: id, url: `https://x.example/${id}/`, etag: null }));
      given += jobs.length;
      return jobs;
    },
  };
}

interface Workshop {
  readonly carryOut: ExecuteJob;
  /** The jobs that were begun, in this order. */
  readonly started: readonly number[];
  untilStarted(count: number): Promise<void>;
  finish(id: number): void;
  fail(id: number, error: Error): void;
  /** Finishes what is under way, and from now on each job within a turn of the event loop. */
  finishAll(): void;
}

/** Jobs that are under way until the test says how they end. */
function openWorkshop(): Workshop {
  const started: number[] = [];
  const ends = new Map<number, { finish: () => void; fail: (error: Error) => void }>();
  let waiting: { count: number; resolve: () => void }[] = [];
  let isAutomatic = false;

  const noteStart = (id: number) => {
    started.push(id);
    for (const { count, resolve } of waiting) if (started.length >= count) resolve();
    waiting = waiting.filter(({ count }) => started.length < count);
  };

  return {
    started,
    async carryOut(job, signal) {
      noteStart(job.resourceId);
      if (isAutomatic) {
        await turn();
        return answerOf(job);
      }
      return await new Promise<JobResult>((resolve, reject) => {
        ends.set(job.resourceId, { finish: () => resolve(answerOf(job)), fail: reject });
        signal.addEventListener("abort", () => resolve({ status: "cancelled", job }));
      });
    },
    untilStarted: (count) =>
      started.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ count, resolve });
          }),
    finish: (id) => ends.get(id)?.finish(),
    fail: (id, error) => ends.get(id)?.fail(error),
    finishAll() {
      isAutomatic = true;
      for (const { finish } of ends.values()) finish();
    },
  };
}
