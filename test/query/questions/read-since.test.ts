import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { MirrorWriter } from "../../../src/mirror/writer.ts";
import { describeNothingSince, readSince, type TimesOf } from "../../../src/query/questions/read-since.ts";
import { startMirrorRig } from "../../mirror/support/mirror-rig.ts";

const seconds = fc.integer({ min: Date.UTC(2000, 0, 1) / 1000, max: Date.UTC(2040, 0, 1) / 1000 });
/** Some at the start of a minute or a day, whose texts can be short. */
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

/** As a service may write it: without a zone, and with any number of digits that is enough. */
function naive({ second, micros }: Instant, digits: number): string {
  const text = new Date(second * 1000).toISOString().slice(0, 19);
  const fraction = String(micros).padStart(6, "0");
  const needed = fraction.replace(/0+$/, "").length;
  return needed === 0 && digits === 0 ? text : `${text}.${fraction.slice(0, Math.max(needed, digits, 1))}`;
}

/** With three runs; the last one has not ended. */
let mirror: MirrorWriter;
beforeAll(async () => {
  const rig = await startMirrorRig();
  mirror = await rig.write();
  const insert = mirror.db.prepare(
    "insert into _run (started_at, ended_at, mode, scope_json) values (?, ?, '', '{}')",
  );
  insert.run("2026-01-01T06:00:00.500Z", "2026-01-01T06:10:00.000Z");
  insert.run("2026-01-02T06:00:00.000Z", "2026-01-02T06:10:00.000Z");
  insert.run("2026-01-03T06:00:00.000Z", null);
  return () => rig[Symbol.asyncDispose]();
});

const berlin = { now: Date.parse("2026-11-21T22:30:00.250Z"), timeZone: "Europe/Berlin" };
const read = (text: string, times: TimesOf) => readSince(mirror, text, times, berlin);

describe("conversion", () => {
  it("a text for --since includes exactly the times that are not earlier, however both are written", () => {
    const digits = fc.nat({ max: 6 });
    fc.assert(
      fc.property(instant, digits, fc.option(instant), digits, (since, sinceDigits, other, otherDigits) => {
        const stored = other ?? since;
        const isNotEarlier =
          stored.second > since.second || (stored.second === since.second && stored.micros >= since.micros);
        const time = read(naive(since, sinceDigits), "reported");
        expect(naive(stored, otherDigits) >= time).toBe(isNotEarlier);
      }),
    );
  });

  it("the text for --since is converted from any zone to compare with the mirror's times", () => {
    const zone = fc.integer({ min: -12, max: 14 });
    fc.assert(
      fc.property(seconds, seconds, zone, (since, stored, hours) => {
        const sign = hours < 0 ? "-" : "+";
        const local = new Date((since + hours * 3600) * 1000).toISOString().slice(0, 19);
        const time = read(`${local}${sign}${String(Math.abs(hours)).padStart(2, "0")}:00`, "seen");
        expect(new Date(stored * 1000).toISOString() >= time).toBe(stored >= since);
      }),
    );
  });

  it("the text for --since is local time where no zone is given", () => {
    expect(read("2026-01-31", "seen")).toBe("2026-01-30T23:00:00.000Z");
    expect(read("2026-07-31 06:30", "seen")).toBe("2026-07-31T04:30:00.000Z");
  });

  it("the text for --since is the beginning of a month, a day or a time", () => {
    expect(read("2026-02", "reported")).toBe("2026-02-01");
    expect(read("2026-01-31T00:00:00.000", "reported")).toBe("2026-01-31");
    expect(read("2026-01-31T23:00-02:00", "reported")).toBe("2026-02-01T01:00");
  });

  it("the text for --since is an instant for a duration before now", () => {
    expect(read("-1d", "seen")).toBe("2026-11-20T22:30:00.250Z");
    expect(read("-1d", "reported")).toBe("2026-11-20T22:30:00.25");
  });

  it.each([
    ["1", "2026-01-01T06:10:00.000Z"],
    ["latest", "2026-01-02T06:10:00.000Z"],
    ["latest-1", "2026-01-01T06:10:00.000Z"],
  ])("the text for --since is the end of the run %s, and no run is a time of the service", (text, seen) => {
    expect(read(text, "seen")).toBe(seen);
    expect(() => read(text, "reported")).toThrow(`Expected a time, got a run: "${text}"`);
  });

  it.each(["", "yesterday", "2026-02-30", "2026-13-01", "2026-01-31T25:00", "2026-1-1", "2026-01-31Z"])(
    "the text for --since cannot be %j",
    (text) => {
      for (const times of ["seen", "reported"] as const)
        expect(() => read(text, times)).toThrow(expect.objectContaining({ code: "syntax" }));
    },
  );

  it("an answer without rows says since when there are none, and why", () => {
    const describe = (text: string) => describeNothingSince(mirror, text, read(text, "seen"));
    const since = (time: string, text: string) => `Nothing since "${text}" (${time} UTC).`;
    expect(describe("1")).toBe(since("2026-01-01 06:10:00", "1"));
    expect(describe("latest")).toBe(
      `${since("2026-01-02 06:10:00", "latest")} The latest run, run 2, had ended by then.`,
    );
    expect(describe("2025")).toBe(
      `${since("2024-12-31 23:00:00", "2025")} The first run, run 1, ended at 2026-01-01 06:10:00 UTC: nothing was known before.`,
    );
  });

  it("an answer without rows does not say that nothing was known before a pruned run", () => {
    mirror.db.exec("begin; update _run set pruned_at = '2026-02-01T00:00:00.000Z' where id = 1");
    try {
      expect(describeNothingSince(mirror, "2025", read("2025", "seen"))).toMatch(
        / Run 2, which ended at 2026-01-02 06:10:00 UTC, is the first that is left: earlier ones were pruned\.$/,
      );
    } finally {
      mirror.db.exec("rollback");
    }
  });

  it("a run that is no time of the service gets the diff since that run as a hint", () => {
    expect(() => read("latest-1", "reported")).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/`armoire diff --from latest-1` lists those/) }),
    );
  });

  it("the text for --since cannot be an unknown run, nor one after the run of --as-of", () => {
    const past = { db: mirror.db, asOf: { run: 1, endedAt: "" } };
    expect(() => read("9", "seen")).toThrow(/There is no run 9/);
    expect(() => readSince(past, "2", "seen", berlin)).toThrow(/^Run 2 is later than run 1, which --as-of/);
  });
});
