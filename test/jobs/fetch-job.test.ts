/** What a fetch becomes: a result for the mirror, or the reason why the whole run should stop. */
import { describe, expect, it } from "vitest";
import { createJobExecutor, type JobResult } from "../../jobs/fetch-job.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { openServiceClient, type ServiceClient } from "../../src/service/client.ts";
import { ServiceError, type ServiceErrorCode } from "../../src/service/errors.ts";
import type { FetchResponse } from "../../src/service/fetch-result.ts";

const job = { resourceId: 7, url: "https://x.example/brands/", etag: '"held"' };
const now = () => Date.UTC(2026, 0, 15, 12);
const about = { fetchedAt: "2026-01-15T12:00:00.000Z" };
const never = new AbortController().signal;

function clientThat(end: () => Promise<FetchResponse>): ServiceClient {
  return { fetch: end, close: async () => {} };
}

const failWith = (error: unknown, signal = never): Promise<JobResult> =>
  createJobExecutor(
    clientThat(() => Promise.reject(error)),
    now,
  )(job, signal);

const resumeAt = Date.UTC(2026, 0, 16);
const serviceError = (code: ServiceErrorCode) =>
  new ServiceError(code, "happened", { url: job.url, resumeAt });

describe("what the service answered", () => {
  it("is a result, with the validator that was held sent along", async () => {
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
        result: { ...about, outcome: "body", status: 200, etag: expect.any(String), body: expect.anything() },
      });
      if (fetched.status !== "fetched" || fetched.result.outcome !== "body") throw new Error("no body");
      const { body, etag } = fetched.result;
      expect(Buffer.from(body).toString()).toBe(JSON.stringify(truth?.body));
      const again = { ...root, etag };
      expect(await execute(again, never)).toEqual({
        status: "fetched",
        job: again,
        result: { ...about, outcome: "not-modified" },
      });
      const gone = { ...root, url: `${sandbox.url}brands/nobody/` };
      expect(await execute(gone, never)).toEqual({
        status: "fetched",
        job: gone,
        result: { ...about, outcome: "gone" },
      });
    } finally {
      await service.close();
    }
  });

  it("is plain data that survives the way between threads and through a queue", async () => {
    const body = Buffer.from("{}");
    const here: FetchResponse = {
      outcome: "body",
      ...about,
      status: 200,
      etag: null,
      body,
    };
    const result = await createJobExecutor(
      clientThat(async () => here),
      now,
    )(job, never);
    expect(structuredClone(result)).toEqual({
      ...result,
      result: { ...about, outcome: "body", status: 200, etag: null, body: new Uint8Array(body) },
    });
  });
});

describe("no usable answer", () => {
  it.each<ServiceErrorCode>(["timeout", "unreachable", "server-error", "closed"])(
    "(%s) that may come later is a failure of this resource",
    async (code) => {
      const error = serviceError(code);
      expect(error.next).toBe("retry");
      expect(await failWith(error)).toEqual({
        status: "fetched",
        job,
        result: { ...about, outcome: "failed", code, message: error.detail },
      });
    },
  );

  it.each<ServiceErrorCode>(["forbidden", "not-json", "not-the-api", "redirect-refused"])(
    "(%s) of a resource that answers wrongly is a failure of this resource",
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
  ])("(%s) stops the run: %s", async (code, reason) => {
    const error = serviceError(code);
    expect(await failWith(error)).toEqual({
      status: "stopped",
      job,
      stop: { reason, message: error.message, hint: error.hint, resumeAt },
    });
  });

  it("since the caller asked to end is a cancelled job", async () => {
    const cancel = new AbortController();
    cancel.abort();
    expect(await failWith(cancel.signal.reason, cancel.signal)).toEqual({ status: "cancelled", job });
  });

  it("for a reason that nobody foresaw is thrown on", async () => {
    await expect(failWith(new TypeError("a mistake of ours"))).rejects.toThrow("a mistake of ours");
  });
});
