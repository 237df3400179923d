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

  test.each(["-1", "1.5.5", "1e3", "soon", "", " ", "500000000", "1768521600000", "99999999999999999999"])(
    "a reset of %j is invalid",
    (reset) => {
      expect(read(reset)).toBeNull();
    },
  );

  test("valid headers are used beside invalid ones", () => {
    const headers = {
      "x-ratelimit-limit": "many",
      "x-ratelimit-remaining": "few",
      "x-ratelimit-reset": "5",
    };
    expect(readRateLimitHeaders(headers, now)).toEqual({ limit: null, remaining: null, resetAt: now + 5000 });
  });
});

describe("other usual forms", () => {
  test.each<[string, Record<string, string>, number]>([
    ["decimals", { "x-ratelimit-limit": "10.0", "x-ratelimit-remaining": "0.0" }, 0],
    ["decimals of which a part is left", { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "2.9" }, 2],
    ["signs", { "x-ratelimit-limit": "+10", "x-ratelimit-remaining": "+0" }, 0],
    ["a limit and what was used", { "x-ratelimit-limit": "10", "x-ratelimit-used": "7" }, 3],
    ["more used than granted", { "ratelimit-limit": "10", "ratelimit-used": "12" }, 0],
    ["less than nothing", { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "-3" }, 0],
    ["another prefix", { "x-rate-limit-limit": "10", "x-rate-limit-remaining": "4" }, 4],
    ["quotes", { "x-ratelimit-limit": "10", "x-ratelimit-remaining": '"9"' }, 9],
    ["rests with the limit behind", { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "9/10" }, 9],
    ["words behind", { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "9 requests" }, 9],
    ["words before", { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "remaining: 9 of 10" }, 9],
    ["words with what was used", { "x-ratelimit-limit": "10", "x-ratelimit-used": "7 requests" }, 3],
    ["what was used with the limit behind", { "x-ratelimit-limit": "10", "x-ratelimit-used": "7/10" }, 3],
    ["parameters with what was used", { "ratelimit-limit": "10;w=3600", "ratelimit-used": "7;w=3600" }, 3],
    ["policies with what was used", { "ratelimit-limit": "10, 50;w=7200", "ratelimit-used": "7" }, 3],
    ["parameters", { "ratelimit-limit": "10;w=3600", "ratelimit-remaining": "9;w=3600" }, 9],
    ["requests", { "x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-requests": "9" }, 9],
    ["requests before", { "x-ratelimit-requests-limit": "10", "x-ratelimit-requests-remaining": "9" }, 9],
    ["global fields", { "x-ratelimit-global-limit": "10", "x-ratelimit-global-remaining": "9" }, 9],
    ["months before", { "x-ratelimit-month-limit": "10", "x-ratelimit-month-remaining": "9" }, 9],
  ])("%s are read", (_form, headers, remaining) => {
    expect(readRateLimitHeaders(headers, now)).toEqual({ limit: 10, remaining, resetAt: null });
  });

  test("-1 without a limit is no count: some services mean that there is none", () => {
    const headers = { "x-ratelimit-limit": "-1", "x-ratelimit-remaining": "-1" };
    expect(readRateLimitHeaders(headers, now)).toEqual({ limit: null, remaining: null, resetAt: null });
  });

  const date = "Thu, 15 Jan 2026 11:30:30 GMT";
  test.each<[string, number]>([
    ["hour", 1_770_000],
    ["day", 12 * 3_600_000 + 1_770_000],
  ])(
    "fields that name the window in which nothing is left (%s) end with it by the service's clock",
    (window, rest) => {
      const headers = {
        date,
        [`x-ratelimit-limit-${window}`]: "10",
        [`x-ratelimit-remaining-${window}`]: "0",
      };
      const others = { "x-ratelimit-limit-minute": "100", "x-ratelimit-remaining-minute": "99" };
      const expected = { limit: 10, remaining: 0, resetAt: now + rest };
      expect(readRateLimitHeaders({ ...headers, ...others }, now)).toMatchObject(expected);
      const usual = { "ratelimit-limit": "10", "ratelimit-remaining": "3", "ratelimit-reset": "3600" };
      expect(readRateLimitHeaders({ ...headers, ...usual }, now)).toEqual(expected);
    },
  );

  test.each(["month", "year"])("a spent %s is read without its end", (window) => {
    const headers = { [`ratelimit-remaining-${window}`]: "0", "ratelimit-remaining-day": "5" };
    expect(readRateLimitHeaders(headers, now)).toMatchObject({ remaining: 0, resetAt: null });
  });

  test("a spent second or minute is waited for", () => {
    const headers = (window: string) => ({
      date,
      [`x-ratelimit-remaining-${window}`]: "0",
      "x-ratelimit-remaining-day": "5",
    });
    const reading = { remaining: 5, resetAt: now + 12 * 3_600_000 + 1_770_000 };
    expect(readRateLimitHeaders(headers("second"), now)).toMatchObject({
      ...reading,
      short: { remaining: 0, resetAt: now + 1000 },
    });
    expect(readRateLimitHeaders(headers("minute"), now)).toMatchObject({
      ...reading,
      short: { remaining: 0, resetAt: now + 30_000 },
    });
  });

  test("a limit of a named window alone is not read", () => {
    expect(readRateLimitHeaders({ "x-ratelimit-limit-minute": "100" }, now)).toBeNull();
  });

  test("of the fields that name windows, the fewest requests left count", () => {
    const lefts = {
      "x-ratelimit-remaining-hour": "7",
      "x-ratelimit-remaining-day": "4",
      "ratelimit-remaining": "5",
    };
    expect(readRateLimitHeaders(lefts, now)?.remaining).toBe(4);
  });

  test("what remains is read even if what was used says something else", () => {
    const headers = { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "4", "x-ratelimit-used": "1" };
    expect(readRateLimitHeaders(headers, now)?.remaining).toBe(4);
  });
});

describe("contradictory fields", () => {
  const readAll = (headers: Record<string, string | string[]>) => readRateLimitHeaders(headers, now);

  test.each([
    ["repeated", ["7", "3", "5"], ["60", "3600"]],
    ["joined", "7, 3,5", "60, 3600"],
    ["partly unreadable", ["many", "3"], ["3600", "soon"]],
  ])("of %s fields, the lowest count and the latest reset are read", (_form, remaining, reset) => {
    const headers = {
      "x-ratelimit-limit": ["300", "30, 30;w=86400"],
      "x-ratelimit-remaining": remaining,
      "x-ratelimit-reset": reset,
    };
    expect(readAll(headers)).toEqual({ limit: 30, remaining: 3, resetAt: now + 3_600_000 });
  });

  test.each([
    ["repeated", ["4", "29"], ["30", "80000"]],
    ["joined", "4, 29", "30, 80000"],
  ])(
    "the values of %s fields belong to one window each, and a window of seconds is waited for",
    (_form, remaining, reset) => {
      const of = (rest: string | string[]) =>
        readAll({ "x-ratelimit-limit": "5, 30", "x-ratelimit-remaining": rest, "x-ratelimit-reset": reset });
      const long = { limit: 30, resetAt: now + 80_000_000 };
      const short = (rest: number) => ({ short: { remaining: rest, resetAt: now + 30_000 } });
      expect(of(remaining)).toEqual({ ...long, remaining: 29, ...short(4) });
      const spent = typeof remaining === "string" ? "0, 25" : ["0", "25"];
      expect(of(spent)).toEqual({ ...long, remaining: 25, ...short(0) });
      const both = typeof remaining === "string" ? "3, 0" : ["3", "0"];
      expect(of(both)).toEqual({ ...long, remaining: 0, ...short(3) });
    },
  );

  test("of a joined field with a single reset, the lowest count is read", () => {
    const joined = {
      "x-ratelimit-limit": "30",
      "x-ratelimit-remaining": "4, 29",
      "x-ratelimit-reset": "80000",
    };
    expect(readAll(joined)).toEqual({ limit: 30, remaining: 4, resetAt: now + 80_000_000 });
  });

  const usual = (remaining: number, reset: number) => ({
    "x-ratelimit-limit": "300",
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(reset),
  });
  const earlier = (remaining: number, reset: number) => ({
    "ratelimit-limit": "30",
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": String(reset),
  });

  test("of several families, the one with the fewest requests left is read", () => {
    const least = { limit: 30, remaining: 0, resetAt: now + 900_000 };
    expect(readAll({ ...usual(250, 80_000), ...earlier(0, 900) })).toEqual(least);
    expect(readAll({ ...usual(250, 80_000), ratelimit: "limit=30, remaining=0, reset=900" })).toEqual(least);
    expect(readAll({ ...earlier(250, 80_000), ...usual(0, 900) })).toEqual({ ...least, limit: 300 });
  });

  test("of several families with the same count, the latest reset is read", () => {
    const both = { ...usual(7, 900), ...earlier(7, 80_000) };
    expect(readAll(both)).toMatchObject({ remaining: 7, resetAt: now + 80_000_000 });
    expect(readAll({ ...usual(7, 900), ratelimit: '"day";r=7' })).toEqual({
      limit: 300,
      remaining: 7,
      resetAt: now + 900_000,
    });
  });

  test("a family whose window ends within a minute is not read beside one that lasts longer", () => {
    expect(readAll({ ...usual(250, 80_000), ratelimit: '"burst";r=0;t=1' })).toMatchObject({
      remaining: 250,
    });
  });

  test("a spent window that ends within a minute is waited for", () => {
    const burst = {
      remaining: 250,
      resetAt: now + 80_000_000,
      short: { remaining: 0, resetAt: now + 10_000 },
    };
    expect(readAll({ ...usual(250, 80_000), ratelimit: '"burst";r=0;t=10' })).toMatchObject(burst);
    expect(readAll({ ...usual(250, 80_000), ...earlier(0, 10) })).toMatchObject(burst);
    expect(readAll(earlier(0, 10))).toEqual({ limit: 30, remaining: 0, resetAt: now + 10_000 });
  });

  test("of windows that end within a minute, the fewest requests left count beside those of a longer one", () => {
    const long = { remaining: 250, resetAt: now + 80_000_000 };
    const short = { ratelimit: '"minute";r=4;t=50, "second";r=3;t=1' };
    expect(readAll({ ...usual(250, 80_000), ...short })).toMatchObject({
      ...long,
      short: { remaining: 3, resetAt: now + 1000 },
    });
    const kong = { "x-ratelimit-remaining-minute": "5", "x-ratelimit-remaining-day": "250" };
    expect(readAll(kong)).toMatchObject({ remaining: 250, short: { remaining: 5 } });
    expect(readAll(earlier(3, 10))).not.toHaveProperty("short");
  });

  test("the count is never above any readable one, in whatever order the fields are sent", () => {
    const count = fc.nat(9);
    fc.assert(
      fc.property(count, fc.array(count, { minLength: 1, maxLength: 3 }), count, (left, lefts, rest) => {
        const headers = {
          "x-ratelimit-remaining": String(left),
          "ratelimit-remaining": lefts.map(String),
          ratelimit: `"day";r=${rest};t=3600`,
        };
        expect(readAll(headers)?.remaining).toBe(Math.min(left, ...lefts, rest));
      }),
    );
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

  test("the fields with the fewest requests left are preferred", () => {
    const usual = { "x-ratelimit-limit": "30", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "9" };
    expect(readAll({ ...usual, ratelimit: '"a";r=12;t=60' })).toMatchObject({ limit: 30, remaining: 3 });
  });

  test("of several quotas, the one with the fewest requests left is read, but not one of seconds", () => {
    const policy = '"burst";q=5;w=1, "hour";q=40;w=3600, "day";q=300;w=86400';
    const withHour = (left: number) => ({
      ratelimit: `"burst";r=0;t=1, "hour";r=${left};t=1800, "day";r=20;t=40000`,
      "ratelimit-policy": policy,
    });
    expect(readAll(withHour(3))).toMatchObject({ limit: 40, remaining: 3, resetAt: now + 1_800_000 });
    expect(readAll(withHour(30))).toMatchObject({ limit: 300, remaining: 20, resetAt: now + 40_000_000 });
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

  test.each<[string, number, number | null]>([
    ['"d";r=0;t=50000, ,,;;"', 0, 50_000],
    ['"unclosed;r=3', 3, null],
    ["limit=300; remaining=0; reset=60", 0, 60],
    ['daily; r = 0 ; t = "60"', 0, 60],
    ['"hour";r=7;t=60, "day";r=4;t=3600;;', 4, 3600],
    ["Remaining: 0, r=+9", 0, null],
    ['"d";r="0"', 0, null],
    ['"d";r=2.9', 2, null],
    ["limit=3, remaining=0.0", 0, null],
  ])(
    "of a malformed field (%j), the readable count that is lowest holds",
    (ratelimit, remaining, seconds) => {
      const resetAt = seconds === null ? null : now + seconds * 1000;
      expect(readAll({ ratelimit })).toMatchObject({ remaining, resetAt });
    },
  );

  test.each([
    { ratelimit: '"daily";r=-3;t=60', "ratelimit-policy": '"daily";q=300;w=86400' },
    { ratelimit: "limit=300, remaining=-3, reset=60" },
  ])("less than nothing of a limit (%j) means that nothing is left", (headers) => {
    expect(readAll(headers)).toMatchObject({ limit: 300, remaining: 0, resetAt: now + 60_000 });
  });

  test.each([
    "",
    "daily;r",
    '"daily";r=-1;t=3',
    "remaining=x",
    "(1 2);r",
    "@",
    "@;for=3",
    "@;super=0",
    "@r=-1",
  ])("malformed structured fields (%j) give no count", (ratelimit) => {
    expect(readAll({ ratelimit })?.remaining ?? null).toBeNull();
  });

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
