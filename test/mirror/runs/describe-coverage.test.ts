import { expect, it } from "vitest";
import type { KindCoverage } from "../../../src/mirror/runs/coverage.ts";
import { describeCoverage } from "../../../src/mirror/runs/describe-coverage.ts";

const none = {
  known: 0,
  held: 0,
  due: 0,
  failed: 0,
  gone: 0,
  partial: 0,
  missingLinks: 0,
  awaitingApproval: 0,
};
const kindOf = (kind: string, counts: Partial<KindCoverage>): KindCoverage => ({
  ...{ kind, ...none, oldestCheckAt: null, newestCheckAt: null },
  ...counts,
});

it("what is missing is said of entities by number, and of lists by page", () => {
  const kinds = [
    kindOf("models", { held: 4, due: 9 }),
    kindOf("model", { held: 16, due: 22, failed: 1 }),
    kindOf("sizes", { failed: 1 }),
  ];
  expect(describeCoverage({ complete: false, kinds })).toBe(
    "Not complete: 9 pages that list models are not fetched; 16 of 39 models held; 1 page that lists sizes is not fetched.",
  );
});
