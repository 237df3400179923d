import { expect, it } from "vitest";
import { formatCompactReport } from "../../../../src/cli/format/mirror/mirror.ts";

it("text shows sizes below 1 MiB in KiB and others in MiB", () => {
  const bodies = { count: 59, bytes: 40_960, storedBytes: 1_536 };
  const report = {
    mirror: "m.sqlite",
    bytesBefore: 3 * 2 ** 20,
    bytesAfter: 2 ** 20,
    isStillRead: false,
    bodies,
    retention: null,
  };
  expect(formatCompactReport(report)).toBe(
    "m.sqlite: 3.0 MiB before, 1.0 MiB now\n59 bodies of 40.0 KiB take 1.5 KiB\n",
  );
  expect(formatCompactReport({ ...report, isStillRead: true })).toMatch(
    /\nAnother process is reading the file\. /,
  );
});
