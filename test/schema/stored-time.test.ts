import fc from "fast-check";
import { expect, it } from "vitest";
import { isoTimeOf, millisOf } from "../../schema/tables.ts";
import { memoryMirror } from "./support/memory-mirror.ts";

it("a stored time is exact to the millisecond, as ISO 8601 and as a number", async () => {
  const db = await memoryMirror();
  const show = db.prepare<[number], string>(`select ${isoTimeOf("?")}`).pluck();
  const read = db.prepare<[string], number>(`select ${millisOf("?")}`).pluck();
  const date = fc.date({ min: new Date("1900-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
  fc.assert(
    fc.property(date, (time) => {
      expect(show.get(time.getTime())).toBe(time.toISOString());
      expect(read.get(time.toISOString())).toBe(time.getTime());
    }),
    { numRuns: 2000 },
  );
});
