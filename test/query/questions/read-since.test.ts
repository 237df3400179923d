import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSince } from "../../../src/query/questions/read-since.ts";

const seconds = fc.integer({ min: Date.UTC(2000, 0, 1) / 1000, max: Date.UTC(2040, 0, 1) / 1000 });
/** Some at the very start of a minute or a day, where most of a time need not be written. */
const evenSeconds = seconds.map((second) => second - (second % (second % 3 === 0 ? 86_400 : 60)));
const instant = fc.record({
  second: fc.oneof(seconds, evenSeconds),
  micros: fc.oneof(
    fc.constant(0),
    fc.nat({ max: 999_999 }),
    fc.nat({ max: 9 }).map((n) => n * 100_000),
  ),
});
type Instant = { readonly second: number; readonly micros: number };

/** As a service may write it: no zone, with or without a fraction, of any length that says all. */
function naive({ second, micros }: Instant, digits: number): string {
  const text = new Date(second * 1000).toISOString().slice(0, 19);
  const fraction = String(micros).padStart(6, "0");
  const needed = fraction.replace(/0+$/, "").length;
  return needed === 0 && digits === 0 ? text : `${text}.${fraction.slice(0, Math.max(needed, digits, 1))}`;
}

describe("a time since when", () => {
  it("comes before just those of the service's times that are as late, however either is written", () => {
    const digits = fc.nat({ max: 6 });
    fc.assert(
      fc.property(instant, digits, fc.option(instant), digits, (since, sinceDigits, other, otherDigits) => {
        const stored = other ?? since;
        const isAsLate =
          stored.second > since.second || (stored.second === since.second && stored.micros >= since.micros);
        const read = readSince(naive(since, sinceDigits), "reported") ?? "unread";
        expect(naive(stored, otherDigits) >= read).toBe(isAsLate);
      }),
    );
  });

  it("is compared with our own times by when it is, in whatever zone", () => {
    const zone = fc.integer({ min: -12, max: 14 });
    fc.assert(
      fc.property(seconds, seconds, zone, (since, stored, hours) => {
        const sign = hours < 0 ? "-" : "+";
        const local = new Date((since + hours * 3600) * 1000).toISOString().slice(0, 19);
        const read = readSince(`${local}${sign}${String(Math.abs(hours)).padStart(2, "0")}:00`, "seen");
        expect(new Date(stored * 1000).toISOString() >= (read ?? "unread")).toBe(stored >= since);
      }),
    );
  });

  it("is local time where no zone is given", () => {
    expect(readSince("2026-01-31", "seen")).toBe(new Date(2026, 0, 31).toISOString());
    expect(readSince("2026-01-31 06:30", "seen")).toBe(new Date(2026, 0, 31, 6, 30).toISOString());
  });

  it("may be as short as a month", () => {
    expect(readSince("2026-02", "reported")).toBe("2026-02-01");
    expect(readSince("2026-01-31T00:00:00.000", "reported")).toBe("2026-01-31");
    expect(readSince("2026-01-31T23:00-02:00", "reported")).toBe("2026-02-01T01:00");
  });

  it.each(["", "yesterday", "2026-02-30", "2026-13-01", "2026-01-31T25:00", "2026-1-1", "2026-01-31Z"])(
    "is not %j",
    (text) => {
      expect([readSince(text, "seen"), readSince(text, "reported")]).toEqual([null, null]);
    },
  );
});
