import { expect, it } from "vitest";
import { describeCoverage } from "../../../src/mirror/runs/describe-coverage.ts";
import { coverageOfKind } from "../support/coverage-of-kind.ts";

it("what is missing is said of entities by number, and of lists by page", () => {
  const kinds = [
    coverageOfKind("models", { held: 4, due: 9 }),
    coverageOfKind("model", { held: 16, due: 22, failed: 1 }),
    coverageOfKind("sizes", { failed: 1 }),
    coverageOfKind("adjacent_sizes", { due: 2 }),
  ];
  expect(describeCoverage({ complete: false, kinds })).toBe(
    "Not complete: 9 pages that list models are not fetched; 16 of 39 models held; " +
      "1 page that lists sizes is not fetched; 2 pages that list adjacent sizes are not fetched.",
  );
});
