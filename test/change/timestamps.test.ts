import fc from "fast-check";
import { expect, it } from "vitest";
import { readNaiveTime, toSortable } from "../../src/change/timestamps.ts";

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
])("%s is the time %s", (text, time) => {
  expect(toSortable(text)).toBe(time);
});

it("sorts times with and without a fraction of a second as numbers do", () => {
  const time = fc.record({ second: fc.nat(59), fraction: fc.stringMatching(/^\d{0,7}$/) });
  fc.assert(
    fc.property(time, time, (one, other) => {
      const [a, b] = [one, other].map(({ second, fraction }) => ({
        text: `2017-01-25T11:58:${String(second).padStart(2, "0")}${fraction === "" ? "" : `.${fraction}`}`,
        value: Number(`${second}.${fraction}0`),
      }));
      const [x, y] = [toSortable(a?.text) ?? "", toSortable(b?.text) ?? ""];
      expect(x < y).toBe((a?.value ?? 0) < (b?.value ?? 0));
      expect(x === y).toBe(a?.value === b?.value);
    }),
  );
});

it.each(["2017-01-25T11:58:28Z", "2017-01-25T11:58:28+02:00", "soon", ""])("%j is refused", (text) => {
  expect(() => readNaiveTime(text)).toThrow(expect.objectContaining({ code: "bad-time" }));
});
