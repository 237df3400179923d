import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRetryAfter } from "../../../src/service/requests/headers.ts";

const now = Date.UTC(2026, 0, 15, 12);
const seconds = (count: number) => now + count * 1000;
const inAYear = seconds(366 * 24 * 3600);

describe("readRetryAfter", () => {
  test.each<readonly [string | string[] | undefined, number | null]>([
    [undefined, null],
    ["0", now],
    ["120", seconds(120)],
    ["  7 ", seconds(7)],
    ["007", seconds(7)],
    ["999999999999999999999999", inAYear],
    ["1e9", null],
    ["-5", null],
    ["+5", null],
    ["1.5", null],
    ["0x10", null],
    ["", null],
    ["soon", null],
    ["NaN", null],
    ["Infinity", null],
    ["120, 30", null],
    ["Thu, 15 Jan 2026 12:00:30 GMT", seconds(30)],
    ["Thu, 15 Jan 2026 11:00:00 GMT", now],
    ["Thursday, 15-Jan-26 12:00:30 GMT", seconds(30)],
    ["Thu Jan 15 12:00:30 2026", seconds(30)],
    ["Thu, 01 Jan 9999 00:00:00 GMT", inAYear],
    ["Thu, 15 Jan 2026 12:00:30 +0100", null],
    ["Thu, 99 Jan 2026 12:00:30 GMT", null],
    ["Thu, 15 Foo 2026 12:00:30 GMT", null],
    ["2026-01-15T12:00:30Z", null],
    [["3", "90", "junk"], seconds(90)],
    [["junk", "-1"], null],
    [[], null],
  ])("the header %j is read as a delay", (value, expected) => {
    expect(readRetryAfter(value, now)).toBe(expected);
  });

  test("the result is never in the past, more than a year ahead, or not a number", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.array(fc.string()), fc.nat().map(String)), (value) => {
        const moment = readRetryAfter(value, now);
        if (moment !== null) expect(moment >= now && moment <= inAYear).toBe(true);
      }),
    );
  });
});
