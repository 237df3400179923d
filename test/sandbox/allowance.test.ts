/** The cost of requests, and the renewal of the allowance. */
import { expect, it } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { bearer, send } from "./support/client.ts";

const leftIn = ({ headers }: { headers: object }): unknown =>
  (headers as Record<string, unknown>)["x-ratelimit-remaining"];

const spend = async (sandbox: Sandbox, times: number, headers = {}): Promise<number[]> => {
  const statuses: number[] = [];
  for (let count = 0; count < times; count++)
    statuses.push((await send(`${sandbox.url}brands/`, { headers })).status);
  return statuses;
};

it("every response shows the remaining count; further requests get 403", async () => {
  await using sandbox = await startSandbox({ allowance: 3, windowSeconds: 3_600 });
  for (const left of ["2", "1", "0"]) {
    const reply = await send(`${sandbox.url}brands/`);
    expect(reply.headers).toMatchObject({ "x-ratelimit-limit": "3", "x-ratelimit-remaining": left });
    const reset = Number(reply.headers["x-ratelimit-reset"]) - sandbox.now().getTime() / 1_000;
    expect(reset).toBeGreaterThan(3_500);
    expect(reset).toBeLessThanOrEqual(3_601);
  }
  const refused = await send(`${sandbox.url}brands/`);
  expect(refused).toMatchObject({ status: 403, headers: { "x-ratelimit-remaining": "0" } });
  expect(JSON.parse(refused.bytes.toString())).toEqual({
    message: expect.stringMatching(/^API rate limit exceeded, see http/),
  });
});

it("304, the root and rate_limit do not count and work with an exhausted allowance", async () => {
  await using sandbox = await startSandbox({ allowance: 1 });
  const first = await send(`${sandbox.url}brands/`);
  expect(leftIn(first)).toBe("0");
  const headers = { "If-None-Match": first.headers.etag ?? "" };
  expect(await send(`${sandbox.url}brands/`, { headers })).toMatchObject({
    status: 304,
    headers: { "x-ratelimit-remaining": "0" },
  });
  expect((await send(sandbox.url)).status).toBe(200);
  const limit = await send(`${sandbox.url}rate-limit/`);
  expect(JSON.parse(limit.bytes.toString())).toMatchObject({
    rel: "resource",
    body: { base: { limit: 1, remaining: 0, reset: Number(first.headers["x-ratelimit-reset"]) } },
    links: {},
    meta: {},
    spec: null,
  });
  expect(sandbox.log().map(({ counted }) => counted)).toEqual([true, false, false, false]);
});

it("each credential has its own allowance", async () => {
  await using sandbox = await startSandbox({ allowance: 2, users: 2 });
  const { key, secret } = sandbox.app;
  const app = { Authorization: `app ${key}:${secret}` };
  for (const headers of [{}, app, ...sandbox.users.map(({ token }) => bearer(token))]) {
    expect(await spend(sandbox, 3, headers)).toEqual([200, 200, 403]);
  }
});

it("the allowance is restored at the end of the window on the sandbox's clock", async () => {
  await using sandbox = await startSandbox({ allowance: 1, windowSeconds: 86_400 });
  expect(await spend(sandbox, 2)).toEqual([200, 403]);
  sandbox.moveClock({ advanceSeconds: 86_000 });
  expect(await spend(sandbox, 1)).toEqual([403]);
  sandbox.moveClock({ advanceSeconds: 401 });
  expect(await spend(sandbox, 2)).toEqual([200, 403]);
});

it("without an allowance there are no allowance headers", async () => {
  await using sandbox = await startSandbox({ allowance: null });
  const { headers } = await send(`${sandbox.url}brands/`);
  expect(Object.keys(headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  expect(JSON.parse((await send(`${sandbox.url}rate-limit/`)).bytes.toString()).body).toEqual({
    base: { limit: null, remaining: null, reset: null },
  });
});

it("the window's end is given in seconds, or not in headers, if configured", async () => {
  await using inSeconds = await startSandbox({
    allowance: 3,
    windowSeconds: 3_600,
    allowanceHeaders: "seconds",
  });
  const { headers } = await send(`${inSeconds.url}brands/`);
  expect(Number(headers["x-ratelimit-reset"])).toBeGreaterThan(3_500);
  expect(Number(headers["x-ratelimit-reset"])).toBeLessThanOrEqual(3_601);

  await using silent = await startSandbox({ allowance: 1, allowanceHeaders: "none" });
  const replies = [await send(`${silent.url}brands/`), await send(`${silent.url}brands/`)];
  expect(replies.map(({ status }) => status)).toEqual([200, 403]);
  for (const reply of replies)
    expect(Object.keys(reply.headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  const limit = await send(`${silent.url}rate-limit/`);
  expect(JSON.parse(limit.bytes.toString()).body.base).toMatchObject({ limit: 1, remaining: 0 });
});

it("304 and the root count, and are refused, if configured", async () => {
  await using sandbox = await startSandbox({ allowance: 3, countNotModified: true, countRoot: true });
  const first = await send(`${sandbox.url}brands/`);
  const headers = { "If-None-Match": first.headers.etag ?? "" };
  const unchanged = await send(`${sandbox.url}brands/`, { headers });
  const root = await send(sandbox.url);
  expect([first, unchanged, root].map((reply) => [reply.status, leftIn(reply)])).toEqual([
    [200, "2"],
    [304, "1"],
    [200, "0"],
  ]);
  expect((await send(`${sandbox.url}brands/`, { headers })).status).toBe(403);
  expect((await send(sandbox.url)).status).toBe(403);
  expect((await send(`${sandbox.url}rate-limit/`)).status).toBe(200);
});

it("responses are dated by the sandbox's clock", async () => {
  await using sandbox = await startSandbox();
  sandbox.moveClock({ now: "2031-05-06T07:08:09Z" });
  expect((await send(sandbox.url)).headers.date).toMatch(/^Tue, 06 May 2031 07:08:/);
  expect(sandbox.log()[0]?.time).toMatch(/^2031-05-06T07:08:/);
});

it("each kind of credential may have an allowance of its own, or none", async () => {
  await using sandbox = await startSandbox({
    allowance: 5,
    allowances: { none: 1, app: null, user: 2 },
    users: 2,
  });
  const { key, secret } = sandbox.app;
  const app = { Authorization: `app ${key}:${secret}` };
  expect(await spend(sandbox, 2)).toEqual([200, 403]);
  expect(await spend(sandbox, 7, app)).toEqual(Array(7).fill(200));
  for (const { token } of sandbox.users)
    expect(await spend(sandbox, 3, bearer(token))).toEqual([200, 200, 403]);
  await using partly = await startSandbox({ allowance: 1, allowances: { none: 2 }, users: 1 });
  expect(await spend(partly, 3)).toEqual([200, 200, 403]);
  expect(await spend(partly, 2, bearer(partly.users[0]?.token))).toEqual([200, 403]);
});

it("the allowance headers may have the names of the IETF's drafts", async () => {
  const rateLimitOf = async (options: SandboxOptions) => {
    await using sandbox = await startSandbox({ allowance: 3, windowSeconds: 3_600, ...options });
    const { headers } = await send(`${sandbox.url}brands/`);
    return Object.fromEntries(Object.entries(headers).filter(([name]) => name.includes("ratelimit")));
  };
  const seconds = expect.stringMatching(/^3(?:60[01]|59\d)$/);
  expect(await rateLimitOf({ rateLimitFields: "ratelimit", allowanceHeaders: "seconds" })).toEqual({
    "ratelimit-limit": "3",
    "ratelimit-remaining": "2",
    "ratelimit-reset": seconds,
  });
  expect(await rateLimitOf({ rateLimitFields: "structured" })).toEqual({
    "ratelimit-policy": '"default";q=3;w=3600',
    ratelimit: expect.stringMatching(/^"default";r=2;t=3(?:60[01]|59\d)$/),
  });
  expect(await rateLimitOf({ rateLimitFields: "structured", allowanceHeaders: "none" })).toEqual({});
});

it("the reported limit may be what was used", async () => {
  await using sandbox = await startSandbox({ allowance: 3, limitMeaning: "used" });
  for (const [used, left] of ["1 2", "2 1", "3 0", "3 0"].map((pair) => pair.split(" "))) {
    const reply = await send(`${sandbox.url}brands/`);
    expect(reply.headers).toMatchObject({ "x-ratelimit-limit": used, "x-ratelimit-remaining": left });
  }
  const limit = await send(`${sandbox.url}rate-limit/`);
  expect(JSON.parse(limit.bytes.toString()).body.base).toMatchObject({ limit: 3, remaining: 0 });
});

it.each([
  ["bare-403", 403],
  ["bare-429", 429],
] as const)("a spent allowance may be refused without an explanation: %s", async (spentResponse, status) => {
  await using sandbox = await startSandbox({ allowance: 1, spentResponse });
  const first = await send(`${sandbox.url}brands/`);
  expect(leftIn(first)).toBe("0");
  const refused = await send(`${sandbox.url}brands/`);
  expect(refused.status).toBe(status);
  expect(Object.keys(refused.headers).filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
  expect(refused.bytes.toString()).not.toMatch(/rate limit/i);
  const headers = { "If-None-Match": first.headers.etag ?? "" };
  expect((await send(`${sandbox.url}brands/`, { headers })).status).toBe(304);
});
