/** The engine contract with a real Redis between those who ask and those who send. */
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
import { describeEngineConformance, type EngineOptions } from "../engine-conformance.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await redis[Symbol.asyncDispose]();
});

const principal = { name: "catalogue", baseUrl: "https://x.example/", credential: null };
let runs = 0;

/** Its worker carries jobs out as the suite says; its coordinator has a run of its own each time. */
function bullmqEngine(carryOut: ExecuteJob, options: EngineOptions): Engine {
  return {
    async *run(source, signal) {
      const baseUrl = `https://x${++runs}.example/`;
      const here = { principal: { ...principal, baseUrl }, clock: systemClock, onWarning: () => {} };
      const worker = startFetchWorker({
        ...{ ...here, redis: await connectRedis(redis.url), concurrency: options.concurrency },
        sender: senderOf(carryOut, baseUrl),
      });
      const sender = await openRedisTransport({
        ...here,
        redis: await connectRedis(redis.url),
        mailbox: `${runs}`,
      });
      try {
        yield* createEngine(carryOutBy(sender, baseUrl), options).run(source, signal);
      } finally {
        await sender.close();
        // What was cancelled is still being carried out there.
        await worker.close(0);
      }
    },
  };
}

const urlOf = (job: FetchJob, baseUrl: string): string => new URL(`${job.resourceId}`, baseUrl).href;

function carryOutBy(sender: Transport, baseUrl: string): ExecuteJob {
  return async (job, signal) => {
    try {
      const { failure } = await sender.send({ url: urlOf(job, baseUrl), condition: [], signal });
      if (failure !== null) throw failure;
      const about = { resourceId: job.resourceId, fetchedAt: "2026-01-15T12:00:00.000Z" };
      return { status: "fetched", job, result: { ...about, outcome: "not-modified" } };
    } catch (error) {
      if (signal.aborted) return { status: "cancelled", job };
      throw error;
    }
  };
}

function senderOf(carryOut: ExecuteJob, baseUrl: string): Transport {
  return {
    async send({ url, signal = new AbortController().signal }): Promise<RawResponse> {
      const job = { resourceId: Number(url.slice(baseUrl.length)), url, etag: null };
      const answered = await carryOut(job, signal).then(
        (result: JobResult) => result,
        (error: Error) => new ServiceError("not-json", error.message, { url }),
      );
      if (answered instanceof ServiceError) return { head: null, wire: null, failure: answered };
      return { head: { status: 304, headers: {} }, wire: new Uint8Array(0), failure: null };
    },
    close: async () => {},
  };
}

describeEngineConformance("workers behind Redis", bullmqEngine);
