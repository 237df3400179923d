/** The engine contract with workers that are reached through a real Redis. */
import { afterAll, beforeAll } from "vitest";
import { openRedisTransport } from "../../../jobs/bullmq/coordinator/redis-transport.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { startFetchWorker } from "../../../jobs/bullmq/worker/fetch-worker.ts";
import { createEngine, type Engine } from "../../../jobs/engine.ts";
import type { ExecuteJob, FetchJob, JobResult } from "../../../jobs/fetch-job.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";
import type { Transport } from "../../../src/service/transport/transport.ts";
import { type RedisServer, startRedis } from "../../support/redis.ts";
import { describeAny } from "../support/bullmq-rig.ts";
import { describeEngineConformance, type EngineOptions } from "../support/engine-conformance.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await redis[Symbol.asyncDispose]();
});

const principal = { name: "catalogue", baseUrl: "https://x.example/", credential: null };
let runs = 0;

/** Its worker executes the jobs of the suite. Each run has its own coordinator. */
function createBullmqEngine(execute: ExecuteJob, options: EngineOptions): Engine {
  return {
    async *run(source, signal) {
      const baseUrl = `https://x${++runs}.example/`;
      const common = { principal: { ...principal, baseUrl }, clock: systemClock, onWarning: () => {} };
      const worker = startFetchWorker({
        ...{ ...common, redis: await connectRedis(redis.url), concurrency: options.concurrency },
        transport: transportOf(execute, baseUrl),
      });
      const transport = await openRedisTransport({
        ...common,
        redis: await connectRedis(redis.url),
        ...{ mirrorKey: `${runs}`, isPrivate: false, describe: describeAny },
      });
      try {
        yield* createEngine(executeOver(transport, baseUrl), options).run(source, signal);
      } finally {
        await transport.close();
        // Cancelled jobs are still running in the worker.
        await worker.close(0);
      }
    },
  };
}

const urlOf = (job: FetchJob, baseUrl: string): string => new URL(`${job.resourceId}`, baseUrl).href;

function executeOver(transport: Transport, baseUrl: string): ExecuteJob {
  return async (job, signal) => {
    try {
      const { failure } = await transport.send({ url: urlOf(job, baseUrl), condition: [], signal });
      if (failure !== null) throw failure;
      const common = { resourceId: job.resourceId, fetchedAt: "2026-01-15T12:00:00.000Z" };
      return { status: "fetched", job, result: { ...common, outcome: "not-modified" } };
    } catch (error) {
      if (signal.aborted) return { status: "cancelled", job };
      throw error;
    }
  };
}

function transportOf(execute: ExecuteJob, baseUrl: string): Transport {
  return {
    async send({ url, signal = new AbortController().signal }): Promise<RawResponse> {
      const job = { resourceId: Number(url.slice(baseUrl.length)), url, etag: null };
      const result = await execute(job, signal).then(
        (finished: JobResult) => finished,
        (error: Error) => new ServiceError("not-json", error.message, { url }),
      );
      if (result instanceof ServiceError) return { head: null, wire: null, failure: result };
      return { head: { status: 304, headers: {} }, wire: new Uint8Array(0), failure: null };
    },
    close: async () => {},
  };
}

describeEngineConformance("workers over Redis", createBullmqEngine);
