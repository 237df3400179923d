/** Times of the service, as sent and as given by the user. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { readServiceTime, toSortable } from "../../../src/mirror/points/service-time.ts";

it.each([
  ["2017-01-25T11:58:28", "2017-01-25T11:58:28"],
  ["2017-01-25T11:58:28.120520", "2017-01-25T11:58:28.12052"],
  ["2017-01-25 11:58", "2017-01-25T11:58:00"],
  ["2017-01-25T11:58:28,5+02:00", "2017-01-25T11:58:28.5"],
  ["2017", "2017-01-01T00:00:00"],
  ["2017-13-01", null],
  ["yesterday", null],
  [null, null],
  [5n, null],
])("%s sorts as %s", (text, time) => {
  expect(toSortable(text)).toBe(time);
});

it("times with and without a fraction of a second sort by time", () => {
  const time = fc.record({ second: fc.nat(59), fraction: fc.stringMatching(/^\d{0,7}$/) });
  fc.assert(
    fc.property(time, time, (timeA, timeB) => {
      const [a, b] = [timeA, timeB].map(({ second, fraction }) => ({
        text: `2017-01-25T11:58:${String(second).padStart(2, "0")}${fraction === "" ? "" : `.${fraction}`}`,
        value: Number(`${second}.${fraction}0`),
      }));
      const [x, y] = [toSortable(a?.text) ?? "", toSortable(b?.text) ?? ""];
      expect(x < y).toBe((a?.value ?? 0) < (b?.value ?? 0));
      expect(x === y).toBe(a?.value === b?.value);
    }),
  );
});

const berlin = { now: Date.parse("2026-11-21T22:30:00.250Z"), timeZone: "Europe/Berlin" };

it.each([
  ["2017-01-25T11:58:28.50", "2017-01-25T11:58:28.5"],
  [" 2017-01 ", "2017-01-01T00:00:00"],
  ["1970", "1970-01-01T00:00:00"],
  ["2017-01-25T11:58:28Z", "2017-01-25T11:58:28"],
  ["2017-01-25T01:58:28+02:00", "2017-01-24T23:58:28"],
  ["-7d", "2026-11-14T22:30:00.25"],
])("%s is read as %s: as written, or in UTC if it has a zone", (text, time) => {
  expect(readServiceTime(text, berlin)).toBe(time);
});

it.each(["soon", "", "2017-02-30", "12", "latest"])("%j is not a time of the service", (text) => {
  expect(() => readServiceTime(text, berlin)).toThrow(expect.objectContaining({ code: "syntax" }));
});
