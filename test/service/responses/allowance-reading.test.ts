import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRateLimitHeaders } from "../../../src/service/requests/headers.ts";

const now = Date.UTC(2026, 0, 15, 12);
const read = (reset: string) => readRateLimitHeaders({ "x-ratelimit-reset": reset }, now)?.resetAt;

describe("readAllowance", () => {
  test("the three headers are read", () => {
    const headers = { "x-ratelimit-limit": "300", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "60" };
    expect(readRateLimitHeaders(headers, now)).toEqual({ limit: 300, remaining: 0, resetAt: now + 60_000 });
  });

  test("missing headers give null", () => {
    expect(readRateLimitHeaders({ etag: "x" }, now)).toBeNull();
  });

  test("the magnitude distinguishes an epoch time from a number of seconds", () => {
    expect(read("86400")).toBe(now + 86_400_000);
    expect(read("0")).toBe(now);
    expect(read("1768521600")).toBe(1_768_521_600_000);
  });

  test.each(["-1", "1.5", "1e3", "soon", "", " ", "500000000", "1768521600000", "99999999999999999999"])(
    "a reset of %j is invalid",
    (reset) => {
      expect(read(reset)).toBeNull();
    },
  );

  test("valid headers are used beside invalid ones", () => {
    const headers = {
      "x-ratelimit-limit": "many",
      "x-ratelimit-remaining": ["1", "2"],
      "x-ratelimit-reset": "5",
    };
    expect(readRateLimitHeaders(headers, now)).toEqual({ limit: null, remaining: null, resetAt: now + 5000 });
  });
});

describe("the rate-limit fields of the IETF's drafts", () => {
  const readAll = (headers: Record<string, string>) => readRateLimitHeaders(headers, now);

  test.each([
    ["of earlier drafts", { "ratelimit-limit": "300", "ratelimit-remaining": "12", "ratelimit-reset": "60" }],
    [
      "of earlier drafts, with the policies of the limit",
      { "ratelimit-limit": "300, 300;w=86400, 10;w=1", "ratelimit-remaining": "12", "ratelimit-reset": "60" },
    ],
    ["in one dictionary", { ratelimit: "limit=300, remaining=12, reset=60" }],
    [
      "with a policy",
      { ratelimit: '"daily";r=12;t=60', "ratelimit-policy": '"daily";q=300;w=86400;qu="requests"' },
    ],
    ["named by a token", { ratelimit: "daily;r=12;t=60", "ratelimit-policy": "daily;q=300;w=86400" }],
    [
      "beside unreadable ones of the usual names",
      {
        "x-ratelimit-remaining": "many",
        ratelimit: '"a";r=12;t=60',
        "ratelimit-policy": '"a";q=300',
      },
    ],
  ])("the rate-limit fields %s are read", (_form, headers) => {
    expect(readAll(headers)).toEqual({ limit: 300, remaining: 12, resetAt: now + 60_000 });
  });

  test("the usual fields are preferred if they have a remaining count", () => {
    const usual = { "x-ratelimit-limit": "30", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "9" };
    expect(readAll({ ...usual, ratelimit: '"a";r=12;t=60' })).toMatchObject({ limit: 30, remaining: 3 });
  });

  test("of several quotas, the one with the fewest requests left is read, but not one of seconds", () => {
    const policy = '"burst";q=5;w=1, "hour";q=40;w=3600, "day";q=300;w=86400';
    const withHour = (left: number) => ({
      ratelimit: `"burst";r=0;t=1, "hour";r=${left};t=1800, "day";r=20;t=40000`,
      "ratelimit-policy": policy,
    });
    expect(readAll(withHour(3))).toEqual({ limit: 40, remaining: 3, resetAt: now + 1_800_000 });
    expect(readAll(withHour(30))).toEqual({ limit: 300, remaining: 20, resetAt: now + 40_000_000 });
    expect(readAll({ ratelimit: '"burst";r=2;t=1' })).toMatchObject({ remaining: 2, resetAt: now + 1000 });
  });

  test("a quota of something other than requests is ignored", () => {
    const headers = {
      ratelimit: '"bytes";r=0;t=900, "requests";r=7;t=800',
      "ratelimit-policy": '"bytes";q=65535;qu="content-bytes";w=900, "requests";q=10;w=800',
    };
    expect(readAll(headers)).toMatchObject({ limit: 10, remaining: 7 });
  });

  test("a policy alone gives the limit", () => {
    expect(readAll({ "ratelimit-policy": '"day";q=100;w=86400' })).toEqual({
      limit: 100,
      remaining: null,
      resetAt: null,
    });
  });

  test.each(["", "daily;r", '"daily";r=-1;t=3', '"a";r=1.5', '"unclosed;r=3', "remaining=x", "(1 2);r", "@"])(
    "malformed structured fields (%j) give no count",
    (ratelimit) => {
      expect(readAll({ ratelimit })?.remaining ?? null).toBeNull();
    },
  );

  test("any text gives whole counts or none", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (ratelimit, policy) => {
        const reading = readAll({ ratelimit, "ratelimit-policy": policy });
        for (const value of Object.values(reading ?? {}))
          expect(value === null || (Number.isFinite(value) && value >= 0)).toBe(true);
      }),
    );
  });
});
