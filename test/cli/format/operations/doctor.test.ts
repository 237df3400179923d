import { expect, it } from "vitest";
import { formatDiagnoses } from "../../../../src/cli/format/operations/doctor.ts";

it("a line end in the name of a file does not begin a line of the report", () => {
  const message = "The token is in a\n✓ No known secret was found (plain)";
  const report = formatDiagnoses(
    { version: "0.1.0", node: "24.0.0" },
    { settings: [], diagnoses: [{ isOk: false, message, hint: null }] },
  );
  expect(report.split("\n").filter((line) => /^[✓✗]/.test(line))).toEqual([
    "✗ The token is in a\\n✓ No known secret was found (plain)",
  ]);
});
