import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { authorization, type ServedApi, serveApi } from "./support/serve-api.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 4, models: 10, sizes: 20 });
  await rig.sync({ depth: "models" });
});
afterAll(() => rig[Symbol.asyncDispose]());

const serve = (limit: number | null) =>
  serveApi({
    findCatalogue: () => rig.file,
    clock: rig.clock,
    allowance: limit === null ? null : { limit, windowSeconds: 3600 },
  });
const remainingIn = (response: Response) => Number(response.headers.get("x-ratelimit-remaining"));
const brand = "/brands/";

describe("an allowance", () => {
  it("every response has the limit, what remains, and the end of the window in epoch seconds", async () => {
    await using api = await serve(5);
    const now = Math.floor(rig.clock.now() / 1000);
    const { headers } = await api.get(brand);
    expect(Object.fromEntries(headers)).toMatchObject({
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": "4",
    });
    const reset = Number(headers.get("x-ratelimit-reset"));
    expect(reset).toBeGreaterThanOrEqual(now + 3600);
    expect(reset).toBeLessThanOrEqual(now + 3610);
  });

  it("counts every response but those that a service does not count", async () => {
    await using api = await serve(20);
    const tag = (await api.get(brand)).headers.get("etag") ?? "";
    const costOf = async (target: string, headers: Readonly<Record<string, string>> = {}) => {
      const before = remainingIn(await api.get("/rate-limit/"));
      const after = remainingIn(await api.get(target, headers));
      return before - after;
    };
    expect(await costOf(brand, { "if-none-match": tag })).toBe(0);
    expect(await costOf("/")).toBe(0);
    expect(await costOf("/rate-limit/")).toBe(0);
    expect(await costOf(brand)).toBe(1);
    expect(await costOf(brand, { "if-none-match": '"other"' })).toBe(1);
    expect(await costOf("/nothing/")).toBe(1);
    expect(await costOf("/me/")).toBe(1);
  });

  it("past it, the answer is the service's, until the window ends; what is free stays so", async () => {
    await using api = await serve(2);
    const tag = (await api.get(brand)).headers.get("etag") ?? "";
    await api.get(brand);
    const refused = await api.get(brand);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      message: expect.stringMatching(/^API rate limit exceeded/),
    });
    expect(remainingIn(refused)).toBe(0);
    expect((await api.get("/nothing/")).status).toBe(403);
    for (const [target, headers] of [
      ["/", {}],
      ["/rate-limit/", {}],
      [brand, { "if-none-match": tag }],
    ] as const)
      expect((await api.get(target, headers)).status).toBeLessThan(400);
    const reset = Number(refused.headers.get("x-ratelimit-reset"));
    rig.sandbox.moveClock({ advanceSeconds: reset - rig.clock.now() / 1000 + 1 });
    const renewed = await api.get(brand);
    expect([renewed.status, remainingIn(renewed)]).toEqual([200, 1]);
  });

  it("the user has an own one, and a wrong key is nobody's", async () => {
    await using api = await serve(2);
    await api.get(brand);
    await api.get(brand);
    expect((await api.get(brand, authorization)).status).toBe(200);
    expect((await api.get(brand, { authorization: "bearer canary-wrong" })).status).toBe(403);
  });

  it("of no request refuses all that are counted", async () => {
    await using api = await serve(0);
    expect((await api.get(brand)).status).toBe(403);
    expect((await api.get("/")).status).toBe(200);
  });
});

describe("the resource behind the root's rate_limit link", () => {
  const read = async (api: ServedApi) => {
    const { links } = (await (await api.get("/")).json()) as { links: { rate_limit: string } };
    return (await fetch(links.rate_limit)).json();
  };

  it("says what remains, as in the headers", async () => {
    await using api = await serve(5);
    const { headers } = await api.get(brand);
    expect(await read(api)).toEqual({
      self: `${api.origin}/rate-limit/`,
      rel: "resource",
      spec: null,
      links: {},
      meta: {},
      body: { base: { limit: 5, remaining: 4, reset: Number(headers.get("x-ratelimit-reset")) } },
    });
  });

  it("without an allowance, the limit is more than anybody needs, and nothing is spent", async () => {
    await using api = await serve(null);
    await api.get(brand);
    const now = rig.clock.now() / 1000;
    const { body } = (await read(api)) as {
      body: { base: { limit: number; remaining: number; reset: number } };
    };
    expect(body.base).toMatchObject({ limit: 1_000_000_000, remaining: 1_000_000_000 });
    expect(body.base.reset - now).toBeGreaterThan(0);
    expect(body.base.reset - now).toBeLessThanOrEqual(86_400);
  });
});
