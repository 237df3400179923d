import { describe, expect, test } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { AttemptReport, PermitRequest } from "../../../src/service/requests/rate-limiter.ts";
import { jsonResponse, rawResponse } from "../../support/raw-server.ts";
import { failureOf, startClientRig } from "../support/client.ts";

const html = { "content-type": "text/html" };
const spent = { "x-ratelimit-limit": "30", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "3600" };
const unspent = { ...spent, "x-ratelimit-remaining": "12" };
const exceeded = { message: "API rate limit exceeded, see https://api.example.org/docs/" };
const notAuthenticated = { message: "Not authenticated", spec: "https://api.example.org/docs/" };

describe("403", () => {
  test.each([
    [
      "a spent allowance, by headers and body",
      jsonResponse(exceeded, spent, 403),
      "allowance-spent",
      "stop-allowance",
    ],
    ["a spent allowance, by headers alone", rawResponse(403, spent), "allowance-spent", "stop-allowance"],
    [
      "a spent allowance, by the body alone",
      jsonResponse(exceeded, {}, 403),
      "allowance-spent",
      "stop-allowance",
    ],
    ["a spent allowance, by a 429", jsonResponse({}, spent, 429), "allowance-spent", "stop-allowance"],
    ["a missing scope", jsonResponse({ message: "Missing scope" }, unspent, 403), "forbidden", "skip"],
    ["a missing scope without a message", rawResponse(403), "forbidden", "skip"],
    [
      "a missing scope, as a JSON string",
      jsonResponse("Not with this token", unspent, 403),
      "forbidden",
      "skip",
    ],
    ["a firewall", rawResponse(403, html, "<h1>Blocked</h1>"), "not-the-api", "skip"],
    ["a bad token, by status", rawResponse(401), "not-authenticated", "stop-authentication"],
    [
      "a bad token, by a page",
      rawResponse(401, html, "<h1>Log in</h1>"),
      "not-authenticated",
      "stop-authentication",
    ],
    ...[200, 400, 403, 404, 500].map(
      (status) =>
        [
          `a bad token, by its body at ${status}`,
          jsonResponse(notAuthenticated, {}, status),
          "not-authenticated",
          "stop-authentication",
        ] as const,
    ),
    ["a wrong request", jsonResponse({ message: "Bad" }, {}, 400), "unexpected-status", "skip"],
    ["a success without a body", rawResponse(204), "unexpected-status", "skip"],
    ["partial content", jsonResponse({}, {}, 206), "unexpected-status", "skip"],
  ] as const)("a refusal for %s is distinguished", async (_name, response, code, next) => {
    await using rig = await startClientRig((_, socket) => socket.write(response));
    const failure = await failureOf(rig.fetch("/me/"));
    expect(failure).toMatchObject({ code, next, name: "ServiceError" });
    expect(failure.hint).not.toBe("");
    expect(rig.server.requests).toHaveLength(1);
  });

  test("a refusal for an exhausted allowance gives the time to resume", async () => {
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse(exceeded, spent, 403)));
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ resumeAt: rig.clock.now() + 3_600_000 });
  });

  test("a credential echoed by the service is hidden", async () => {
    await using rig = await startClientRig(
      ({ headers }, socket) =>
        socket.write(jsonResponse({ message: `No ${headers.authorization} here` }, {}, 400)),
      { credential: bearerToken("canary-token") },
    );
    const failure = await failureOf(rig.fetch("/me/"));
    expect(failure.message).toContain("“No bearer [credential] here”");
    expect(`${failure.stack} ${JSON.stringify(failure)}`).not.toContain("canary-");
  });

  test("the message of a refusal is shortened to one line", async () => {
    await using rig = await startClientRig((_, socket) =>
      socket.write(jsonResponse({ message: `a\r\nb\u202e${"c".repeat(900)}` }, {}, 400)),
    );
    const { message } = await failureOf(rig.fetch("/"));
    expect(message).toContain("“a b c");
    expect(message.length).toBeLessThan(300);
  });
});

describe("permits", () => {
  const recording = (log: string[]) => async (attempt: PermitRequest) => {
    log.push(`reserve ${new URL(attempt.url).pathname}`);
    return {
      release: ({ status, allowance, retryAt }: AttemptReport) =>
        log.push(`settle ${status} ${allowance?.remaining} ${retryAt}`),
    };
  };

  test("each attempt is reserved before and settled after, retries and waits included", async () => {
    const log: string[] = [];
    const responses = [
      rawResponse(500, unspent),
      jsonResponse({}, { "retry-after": "1" }, 429),
      rawResponse(304, { etag: '"b"' }),
      jsonResponse({}, unspent),
    ];
    await using rig = await startClientRig(({ index }, socket) => socket.write(responses[index] ?? ""), {
      rateLimiter: recording(log),
    });
    const start = rig.clock.now();
    await rig.fetch("/a", { etag: '"a"' });
    expect(log).toEqual([
      "reserve /a",
      "settle 500 12 null",
      "reserve /a",
      `settle 429 undefined ${start + 250 + 1000}`,
      "reserve /a",
      "settle 304 undefined null",
      "reserve /a",
      "settle 200 12 null",
    ]);
  });

  test.each([
    ["no answer", (socket: { destroy(): void }) => socket.destroy(), "settle null undefined null"],
    [
      "half an answer",
      (socket: { end(data: Buffer): void }) =>
        socket.end(rawResponse(200, { ...unspent, "content-length": "9" }, "{")),
      "settle 200 12 null",
    ],
  ])("each attempt is settled once after %s", async (_name, response, isSettled) => {
    const log: string[] = [];
    await using rig = await startClientRig((_, socket) => response(socket), {
      rateLimiter: recording(log),
      retry: { maxRetries: 0 },
    });
    await failureOf(rig.fetch("/"));
    expect(log).toEqual(["reserve /", isSettled]);
  });

  test("an aborted attempt is settled", async () => {
    const log: string[] = [];
    const controller = new AbortController();
    await using rig = await startClientRig(() => controller.abort("enough"), { rateLimiter: recording(log) });
    await expect(rig.fetch("/", { signal: controller.signal })).rejects.toBe("enough");
    expect(log).toEqual(["reserve /", "settle null undefined null"]);
  });

  test("an aborted attempt that was never sent is settled as unsent", async () => {
    const reports: Pick<AttemptReport, "isSent" | "isTried">[] = [];
    const controller = new AbortController();
    await using rig = await startClientRig(() => controller.abort("enough"), {
      connections: 1,
      rateLimiter: async () => ({
        release: ({ isSent, isTried }) => void reports.push({ isSent, isTried }),
      }),
    });
    const { signal } = controller;
    const requested = ["/1", "/2", "/3"].map((path) => rig.fetch(path, { signal }));
    for (const { status } of await Promise.allSettled(requested)) expect(status).toBe("rejected");
    const sent = reports.filter(({ isSent }) => isSent);
    expect(sent).toHaveLength(rig.server.requests.length);
    expect(reports.filter(({ isTried }) => isTried)).toEqual(sent);
    expect(reports).toHaveLength(3);
  });

  test("an error of the reserve reaches the caller unchanged and nothing is sent", async () => {
    const refusal = new ServiceError("allowance-spent", "nothing unspent today", {
      url: "http://x/",
      resumeAt: 5,
    });
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse({})), {
      rateLimiter: () => Promise.reject(refusal),
    });
    expect(await failureOf(rig.fetch("/"))).toBe(refusal);
    expect(rig.server.connectionCount()).toBe(0);
  });
});
