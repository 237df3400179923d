import { describe, expect, it } from "vitest";
import { createJobExecutor, type JobResult } from "../../jobs/fetch-job.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { openServiceClient, type ServiceClient } from "../../src/service/client.ts";
import { ServiceError, type ServiceErrorCode } from "../../src/service/errors.ts";
import type { FetchResponse } from "../../src/service/fetch-result.ts";
import { noHeaders } from "../support/no-headers.ts";

const job = { resourceId: 7, url: "https://x.example/brands/", etag: '"held"' };
const now = () => Date.UTC(2026, 0, 15, 12);
const common = { fetchedAt: "2026-01-15T12:00:00.000Z" };
const never = new AbortController().signal;

function clientWith(fetch: () => Promise<FetchResponse>): ServiceClient {
  return { fetch, close: async () => {} };
}

const failWith = (error: unknown, signal = never): Promise<JobResult> =>
  createJobExecutor(
    clientWith(() => Promise.reject(error)),
    now,
  )(job, signal);

const resumeAt = Date.UTC(2026, 0, 16);
const serviceError = (code: ServiceErrorCode) => new ServiceError(code, "detail", { url: job.url, resumeAt });

describe("responses", () => {
  it("a response becomes a result; the held validator is sent with the request", async () => {
    await using sandbox = await startSandbox();
    const service = openServiceClient({ baseUrl: sandbox.url, clock: { ...systemClock, now } });
    const execute = createJobExecutor(service, now);
    const root = { resourceId: 7, url: sandbox.url, etag: null };
    try {
      const fetched = await execute(root, never);
      const truth = [...sandbox.truth()].find(({ kind }) => kind === "root");
      expect(fetched).toEqual({
        status: "fetched",
        job: root,
        result: {
          ...common,
          outcome: "body",
          status: 200,
          etag: expect.any(String),
          headers: expect.objectContaining({ sentAt: expect.any(String), link: null }),
          body: expect.anything(),
        },
      });
      if (fetched.status !== "fetched" || fetched.result.outcome !== "body") throw new Error("no body");
      const { body, etag } = fetched.result;
      expect(Buffer.from(body).toString()).toBe(JSON.stringify(truth?.body));
      const again = { ...root, etag };
      expect(await execute(again, never)).toEqual({
        status: "fetched",
        job: again,
        result: { ...common, outcome: "not-modified" },
      });
      const gone = { ...root, url: `${sandbox.url}brands/none/` };
      expect(await execute(gone, never)).toEqual({
        status: "fetched",
        job: gone,
        result: { ...common, outcome: "gone" },
      });
    } finally {
      await service.close();
    }
  });

  it("a response becomes plain data that can be cloned between threads", async () => {
    const body = Buffer.from("{}");
    const response: FetchResponse = {
      outcome: "body",
      ...common,
      status: 200,
      etag: null,
      headers: noHeaders,
      body,
    };
    const result = await createJobExecutor(
      clientWith(async () => response),
      now,
    )(job, never);
    expect(structuredClone(result)).toEqual({
      ...result,
      result: {
        ...common,
        outcome: "body",
        status: 200,
        etag: null,
        headers: noHeaders,
        body: new Uint8Array(body),
      },
    });
  });
});

describe("failures", () => {
  it.each<ServiceErrorCode>(["timeout", "unreachable", "server-error", "closed"])(
    "a request that failed with %s, to be retried later, fails its resource",
    async (code) => {
      const error = serviceError(code);
      expect(error.next).toBe("retry");
      expect(await failWith(error)).toEqual({
        status: "fetched",
        job,
        result: { ...common, outcome: "failed", code, message: error.detail },
      });
    },
  );

  it.each<ServiceErrorCode>(["forbidden", "not-json", "not-the-api", "redirect-refused"])(
    "a request that failed with %s, to be skipped, fails its resource",
    async (code) => {
      const error = serviceError(code);
      expect(error.next).toBe("skip");
      expect(await failWith(error)).toMatchObject({ status: "fetched", result: { outcome: "failed", code } });
    },
  );

  it.each<[ServiceErrorCode, string]>([
    ["throttled", "allowance"],
    ["allowance-spent", "allowance"],
    ["not-authenticated", "authentication"],
    ["circuit-open", "outage"],
  ])("a request that failed with %s stops the run with the reason %s", async (code, reason) => {
    const error = serviceError(code);
    expect(await failWith(error)).toEqual({
      status: "stopped",
      job,
      stop: { reason, message: error.message, hint: error.hint, resumeAt },
    });
  });

  it("a request that the caller cancelled becomes a cancelled job", async () => {
    const cancel = new AbortController();
    cancel.abort();
    expect(await failWith(cancel.signal.reason, cancel.signal)).toEqual({ status: "cancelled", job });
  });

  it("a request that fails with any other error rejects with it unchanged", async () => {
    await expect(failWith(new TypeError("a bug"))).rejects.toThrow("a bug");
  });
});
