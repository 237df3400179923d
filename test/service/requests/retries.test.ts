import { describe, expect, test } from "vitest";
import { backoffMillis, defaultRetryPolicy } from "../../../src/service/requests/retry-policy.ts";
import { jsonResponse, rawResponse } from "../../support/raw-server.ts";
import { failureOf, startClientRig } from "../support/client.ts";

const ok = jsonResponse({ rel: "resource" });
const html = { "content-type": "text/html" };

describe("retries", () => {
  test.each([500, 502, 503, 504, 408])(
    "a %d is retried, and its HTML page is never used as a body",
    async (status) => {
      await using rig = await startClientRig(({ index }, socket) =>
        socket.write(index < 3 ? rawResponse(status, html, "<h1>Oops</h1>") : ok),
      );
      expect((await rig.fetch("/")).outcome).toBe("body");
      expect(rig.server.requests).toHaveLength(4);
      expect(rig.clock.sleeps).toEqual([250, 500, 1000]);
    },
  );

  test("a fetch fails after the policy's retries and may be tried later", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse({ message: "Down\u001b[2J for repair" }, {}, 500)),
    );
    const failure = await failureOf(rig.fetch("/brands/"));
    expect(failure).toMatchObject({ code: "server-error", next: "retry", status: 500, resumeAt: null });
    expect(failure.message).toBe(`${rig.server.origin}/brands/: answered 500, “Down [2J for repair”`);
    expect(rig.server.requests).toHaveLength(1 + defaultRetryPolicy.maxRetries);
  });

  test("a final response ends the retries", async () => {
    await using rig = await startClientRig(({ index }, socket) =>
      socket.write(jsonResponse({}, {}, index === 0 ? 500 : 403)),
    );
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "forbidden" });
    expect(rig.server.requests).toHaveLength(2);
  });

  test("without retries, one request is sent", async () => {
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(500)), {
      retry: { maxRetries: 0 },
    });
    await failureOf(rig.fetch("/"));
    expect(rig.server.requests).toHaveLength(1);
    expect(rig.clock.sleeps).toEqual([]);
  });

  test("after ten failed fetches in a row, requests pause for a minute, then one is sent", async () => {
    const state = { status: 500 };
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse({}, {}, state.status)), {
      retry: { maxRetries: 0 },
    });
    for (let count = 0; count < 10; count++) await failureOf(rig.fetch(`/${count}`));
    const refused = await failureOf(rig.fetch("/next"));
    expect(refused).toMatchObject({
      code: "circuit-open",
      next: "retry",
      resumeAt: rig.clock.now() + 60_000,
    });
    expect(rig.server.requests).toHaveLength(10);

    await rig.clock.sleep(60_000, undefined);
    expect(await failureOf(rig.fetch("/still"))).toMatchObject({ code: "server-error" });
    expect(await failureOf(rig.fetch("/next"))).toMatchObject({ code: "circuit-open" });

    await rig.clock.sleep(60_000, undefined);
    state.status = 200;
    await rig.fetch("/a");
    state.status = 500;
    expect(await failureOf(rig.fetch("/b"))).toMatchObject({ code: "server-error" });
    expect(await failureOf(rig.fetch("/c"))).toMatchObject({ code: "server-error" });
  });
});

describe("backoff", () => {
  const policy = { ...defaultRetryPolicy, minDelayMillis: 100, maxDelayMillis: 1000 };
  test("the backoff doubles up to its maximum, with jitter over the upper half", () => {
    const delays = [1, 2, 3, 4, 5, 60, 2000].map((attempt) => [
      backoffMillis(attempt, policy, 0),
      backoffMillis(attempt, policy, 0.999),
    ]);
    expect(delays).toEqual([
      [50, 100],
      [100, 200],
      [200, 400],
      [400, 800],
      [500, 1000],
      [500, 1000],
      [500, 1000],
    ]);
  });
});

describe("waits requested by the service", () => {
  test.each([429, 503, 403])("a Retry-After with a %d is obeyed and uses no retry", async (status) => {
    await using rig = await startClientRig(
      ({ index }, socket) => socket.write(index < 1 ? jsonResponse({}, { "retry-after": "7" }, status) : ok),
      { retry: { maxRetries: 0 } },
    );
    expect((await rig.fetch("/")).outcome).toBe("body");
    expect(rig.clock.sleeps).toEqual([7000]);
  });

  test("a 429 without Retry-After waits until the spent short window ends", async () => {
    const headers = { "x-ratelimit-remaining": "99", ratelimit: '"burst";r=0;t=10, "day";r=99;t=3600' };
    await using rig = await startClientRig(({ index }, socket) =>
      socket.write(index < 1 ? jsonResponse({}, headers, 429) : ok),
    );
    expect((await rig.fetch("/")).outcome).toBe("body");
    expect(rig.clock.sleeps).toEqual([10_000]);
  });

  test.each(["0", "Thu, 01 Jan 1970 00:00:00 GMT"])(
    "Retry-After %j causes neither a busy loop nor an endless wait",
    async (retryAfter) => {
      await using rig = await startClientRig((_, socket) =>
        socket.write(jsonResponse({}, { "retry-after": retryAfter }, 429)),
      );
      expect(await failureOf(rig.fetch("/"))).toMatchObject({
        ...{ code: "throttled", next: "stop-allowance", isUnexplained: true },
      });
      expect(rig.clock.sleeps).toEqual([500]);
    },
  );

  test("a Retry-After longer than the allowed wait ends the run with the time to resume", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse({}, { "retry-after": "3600" }, 503)),
    );
    const resumeAt = rig.clock.now() + 3_600_000;
    expect(await failureOf(rig.fetch("/"))).toMatchObject({
      code: "throttled",
      next: "stop-allowance",
      status: 503,
      resumeAt,
    });
    expect(rig.server.requests).toHaveLength(1);
    expect(rig.clock.sleeps).toEqual([]);
  });

  test("a long Retry-After of ten 503s in a row opens the circuit breaker until then", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse({}, { "retry-after": "3600" }, 503)),
    );
    const resumeAt = rig.clock.now() + 3_600_000;
    for (let n = 0; n < 10; n++)
      expect(await failureOf(rig.fetch(`/${n}`))).toMatchObject({ code: "throttled" });
    expect(await failureOf(rig.fetch("/next"))).toMatchObject({ code: "circuit-open", resumeAt });
    expect(rig.server.requests).toHaveLength(10);
  });

  test.each(["soon", "-1", "1e9", ""])(
    "a Retry-After without a valid time (%j) is as none: the usual backoff applies, unless nothing explains the refusal",
    async (retryAfter) => {
      const headers = { "retry-after": retryAfter };
      await using rig = await startClientRig(({ path }, socket) =>
        socket.write(
          jsonResponse({}, path === "/bare" ? headers : { ...headers, "x-ratelimit-remaining": "9" }, 429),
        ),
      );
      const failure = { code: "busy", next: "retry" };
      expect(await failureOf(rig.fetch("/"))).toMatchObject({ ...failure, isUnexplained: false });
      expect(rig.clock.sleeps).toEqual([250, 500, 1000]);
      expect(await failureOf(rig.fetch("/bare"))).toMatchObject({ ...failure, isUnexplained: true });
      expect(rig.clock.sleeps).toEqual([250, 500, 1000]);
    },
  );
});

describe("cancellation", () => {
  test.each([
    ["between retries", rawResponse(500)],
    ["for the service", jsonResponse({}, { "retry-after": "50" }, 429)],
  ])("%s ends with the caller's reason when the caller aborts", async (_name, response) => {
    const controller = new AbortController();
    const reason = { stop: "now" };
    await using rig = await startClientRig((_, socket) => socket.write(response));
    const { sleep } = rig.clock;
    rig.clock.sleep = (millis, signal) => {
      controller.abort(reason);
      return sleep(millis, signal);
    };
    await expect(rig.fetch("/", { signal: controller.signal })).rejects.toBe(reason);
    expect(rig.server.requests).toHaveLength(1);
  });
});
