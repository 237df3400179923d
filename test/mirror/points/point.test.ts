/** Points as users write them: the time that each one means, to the millisecond, in a given zone and at a given time. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Point, parsePoint, parsePointOrPath } from "../../../src/mirror/points/point.ts";
import { instantOf, wallOf } from "../../../src/platform/text/zoned-time.ts";

const berlin = { now: Date.parse("2026-11-21T22:30:00.250Z"), timeZone: "Europe/Berlin" };
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Apia",
];

function timeOf(text: string, context = berlin): string {
  const point = parsePoint(text, context);
  if (point.kind !== "time") throw new Error(`${text} is not a time`);
  return point.at;
}

describe("parsePoint", () => {
  it.each<[string, Point]>([
    ["latest", { kind: "latest" }],
    [" latest ", { kind: "latest" }],
    ["latest-2", { kind: "latest", back: 2 }],
    ["12", { kind: "run", run: 12 }],
    ["0", { kind: "run", run: 0 }],
    ["1999", { kind: "run", run: 1999 }],
    ["20260101", { kind: "run", run: 20260101 }],
    ["run:12", { kind: "run", run: 12 }],
    ["run:2026", { kind: "run", run: 2026 }],
  ])("%j is a run, or a number of runs before the latest", (text, point) => {
    expect(parsePoint(text, berlin)).toEqual(point);
  });

  it.each([
    ["2026", "2026-12-31T22:59:59.999Z"],
    ["2026-02", "2026-02-28T22:59:59.999Z"],
    ["2028-02-29", "2028-02-29T22:59:59.999Z"],
    ["2026-11-03", "2026-11-03T22:59:59.999Z"],
    ["2026-07-03", "2026-07-03T21:59:59.999Z"],
    ["2026-11-03T06", "2026-11-03T05:59:59.999Z"],
    ["2026-11-03 06:15", "2026-11-03T05:15:59.999Z"],
    ["2026-11-03T23:59:59", "2026-11-03T22:59:59.999Z"],
    ["2026-11-03T06:15:30.2", "2026-11-03T05:15:30.299Z"],
    ["2026-11-03T06:15:30,25", "2026-11-03T05:15:30.259Z"],
    ["2026-11-03T06:15:30.123", "2026-11-03T05:15:30.123Z"],
    ["2026-11-03T06:15:30.123987654", "2026-11-03T05:15:30.123Z"],
  ])("%s is a local time that ends at %s", (text, at) => {
    expect(parsePoint(text, berlin)).toMatchObject({ kind: "time", at, text, timeZone: "Europe/Berlin" });
  });

  it.each([
    ["2026-11-03T06Z", "2026-11-03T06:59:59.999Z"],
    ["2026-11-03t06:15z", "2026-11-03T06:15:59.999Z"],
    ["2026-11-03T06:15:30+02:00", "2026-11-03T04:15:30.999Z"],
    ["2026-11-03T06:15:30.5-0330", "2026-11-03T09:45:30.599Z"],
    ["2026-12-31T23-01", "2027-01-01T00:59:59.999Z"],
  ])("%s has its own zone and ends at %s", (text, at) => {
    expect(parsePoint(text, berlin)).toMatchObject({ kind: "time", at, text, timeZone: null });
  });

  it.each([
    ["-0h", "2026-11-21T22:30:00.250Z"],
    ["-12h", "2026-11-21T10:30:00.250Z"],
    ["-7d", "2026-11-14T22:30:00.250Z"],
    // Clocks were set back in between: the same time of day is a different time in UTC.
    ["-4w", "2026-10-24T21:30:00.250Z"],
    ["-2m", "2026-09-21T21:30:00.250Z"],
    ["-12m", "2025-11-21T22:30:00.250Z"],
  ])("%s is subtracted from the current time: %s", (text, at) => {
    expect(timeOf(text)).toBe(at);
  });

  it("a month before a day that this month does not have is its last day", () => {
    const now = Date.parse("2027-03-31T12:00:00Z");
    expect(timeOf("-1m", { now, timeZone: "UTC" })).toBe("2027-02-28T12:00:00.000Z");
    expect(timeOf("-4m", { now, timeZone: "UTC" })).toBe("2026-11-30T12:00:00.000Z");
  });
});

it.each([
  ["2026", "2025-12-31T23:00:00.000Z"],
  ["2026-11-03", "2026-11-02T23:00:00.000Z"],
  ["2026-11-03T06:15:30.2", "2026-11-03T05:15:30.200Z"],
  ["2026-11-03T06:15:30.1239", "2026-11-03T05:15:30.123Z"],
  ["2026-11-03T06:15+02:00", "2026-11-03T04:15:00.000Z"],
  ["-7d", "2026-11-14T22:30:00.250Z"],
  // This local time occurs twice; the first one counts.
  ["2026-10-25T02:30", "2026-10-25T00:30:00.000Z"],
])("the time %s begins at %s", (text, from) => {
  expect(parsePoint(text, berlin)).toMatchObject({ kind: "time", from });
});

describe("a change of the clocks", () => {
  it.each([
    // Set back at 03:00: the hour from 02:00 occurs twice, and ends after the second time.
    ["2026-10-25T01", "2026-10-24T23:59:59.999Z"],
    ["2026-10-25T02", "2026-10-25T01:59:59.999Z"],
    ["2026-10-25T02:30", "2026-10-25T01:30:59.999Z"],
    ["2026-10-25T02:30+02:00", "2026-10-25T00:30:59.999Z"],
    ["2026-10-25", "2026-10-25T22:59:59.999Z"],
    // Set forward at 02:00.
    ["2026-03-29T01", "2026-03-29T00:59:59.999Z"],
    ["2026-03-29T03", "2026-03-29T01:59:59.999Z"],
    ["2026-03-29", "2026-03-29T21:59:59.999Z"],
  ])("%s ends at %s when clocks change", (text, at) => {
    expect(timeOf(text)).toBe(at);
  });

  it("an hour that clocks skip is later than the hour before it and no later than the hour after it", () => {
    const [before = "", within = "", after = ""] = ["01", "02", "03"].map((hour) =>
      timeOf(`2026-03-29T${hour}`),
    );
    expect(before < within && within <= after).toBe(true);
  });

  it("the local time of an instant resolves to that instant, or to the later one with the same local time", () => {
    const instants = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2100, 0, 1) });
    fc.assert(
      fc.property(instants, fc.constantFrom(...zones), (instant, timeZone) => {
        const wall = wallOf(instant, timeZone);
        const found = instantOf(wall, timeZone);
        expect(wallOf(found, timeZone)).toBe(wall);
        expect(found).toBeGreaterThanOrEqual(instant);
      }),
    );
  });
});

describe("arbitrary text", () => {
  const instants = fc.date({ min: new Date("1970-01-02"), max: new Date("2100-01-01"), noInvalidDate: true });

  it("a complete timestamp with a zone is exact in any default zone", () => {
    fc.assert(
      fc.property(
        instants,
        fc.constantFrom(...zones),
        fc.integer({ min: -840, max: 840 }),
        (date, timeZone, offset) => {
          const sign = offset < 0 ? "-" : "+";
          const [hours, minutes] = [Math.abs(offset) / 60, Math.abs(offset) % 60].map((part) =>
            String(Math.trunc(part)).padStart(2, "0"),
          );
          const shown = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
          for (const text of [date.toISOString(), `${shown}${sign}${hours}:${minutes}`])
            expect(timeOf(text, { now: 0, timeZone })).toBe(date.toISOString());
        },
      ),
    );
  });

  it("a time with fewer digits contains the time with more digits", () => {
    fc.assert(
      fc.property(instants, fc.constantFrom(...zones), (date, timeZone) => {
        const local = new Date(wallOf(date.getTime(), timeZone)).toISOString();
        const ends = [23, 19, 16, 13, 10, 7].map((length) =>
          timeOf(local.slice(0, length), { now: 0, timeZone }),
        );
        expect(ends).toEqual(ends.toSorted());
        expect((ends[0] ?? "") >= date.toISOString()).toBe(true);
      }),
    );
  });

  it.each([
    ...[
      "",
      " ",
      "yesterday",
      "last",
      "-",
      "-7",
      "-d",
      "7d",
      "+7d",
      "-7y",
      "-1.5d",
      "--7d",
      "-99999d",
      "run:",
      "run:x",
      "latest-",
      "latest-x",
      "latest+1",
      "latest -1",
    ],
    ...[
      "1.5",
      "-1",
      "1e3",
      "9999999999",
      "0x10",
      "2026-13",
      "2026-00",
      "2026-1",
      "2026-02-29",
      "2026-06-31",
      "2026-11-00",
    ],
    ...[
      "2026-11-03T",
      "2026-11-03T24",
      "2026-11-03T06:60",
      "2026-11-03T06:00:60",
      "2026-11-03T6",
      "2026-11-03Z",
    ],
    ...[
      "2026-11-03T06:00:00.",
      "2026-11-03T06+24:00",
      "2026-11-03T06+02:60",
      "2026-11-03T06 Z",
      "1026-11-03",
      "2026-11-03\n04",
    ],
  ])("%j is refused with a list of the valid forms", (text) => {
    expect(() => parsePoint(text, berlin)).toThrow(
      expect.objectContaining({
        code: "syntax",
        message: `${JSON.stringify(text)} is not a point in time.`,
        hint: expect.stringMatching(/-7d/),
      }),
    );
  });

  it("any text is either parsed or refused with a syntax error", () => {
    const pieces = fc.constantFrom(
      ..."0123456789-:.TZ+dwmh ",
      "run:",
      "latest",
      "latest-",
      "2026-11-03",
      "T06:00",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 8 }).map((some) => some.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        let point: Point;
        try {
          point = parsePoint(given, berlin);
        } catch (error) {
          expect(error).toMatchObject({ name: "PointError", code: "syntax" });
          return;
        }
        if (point.kind !== "time") return;
        expect(point.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(point.from <= point.at).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("parsePointOrPath", () => {
  const typeOfPath = (path: string) =>
    path.endsWith(".sqlite") ? "file" : path.endsWith("-2026") ? "folder" : null;

  it("a file is a mirror and a folder is an export", () => {
    expect(parsePointOrPath("a copy.sqlite", berlin, typeOfPath)).toEqual({
      kind: "mirror",
      path: "a copy.sqlite",
    });
    expect(parsePointOrPath("out/of-2026", berlin, typeOfPath)).toEqual({
      kind: "export",
      path: "out/of-2026",
    });
  });

  it("a text that is a point stays one even if a file has the same name", () => {
    const everywhere = () => "folder" as const;
    for (const text of ["latest", "latest-1", "12", "2026", "-7d"])
      expect(parsePointOrPath(text, berlin, everywhere)).toEqual(parsePoint(text, berlin));
    expect(parsePointOrPath("./latest", berlin, everywhere)).toEqual({ kind: "export", path: "./latest" });
  });

  it("a text that is neither a point nor a path is refused", () => {
    expect(() => parsePointOrPath("nowhere", berlin, typeOfPath)).toThrow(
      /"nowhere" is neither a point in time nor a file or folder/,
    );
  });
});
