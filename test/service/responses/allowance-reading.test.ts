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
