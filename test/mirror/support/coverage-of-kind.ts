import type { KindCoverage } from "../../../src/mirror/runs/count-kinds.ts";

const none = {
  ...{ known: 0, held: 0, due: 0, failed: 0, gone: 0, partial: 0, missingLinks: 0, awaitingApproval: 0 },
  ...{ oldestCheckAt: null, newestCheckAt: null },
};

/** @param counts those that are not 0 */
export const coverageOfKind = (kind: string, counts: Partial<KindCoverage>): KindCoverage => ({
  kind,
  ...none,
  ...counts,
});
