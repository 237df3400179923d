/**
 * What answers tell beyond what each one stores: who is there after all, what belongs to those who are not, and whether the
 * lists that were read make one whole. Called inside the transaction that stored them.
 */
import type { Absences } from "../absence/absences.ts";
import { preparePasses } from "../absence/passes.ts";
import type { Connection } from "../file/connection.ts";
import type { JudgeBatch } from "./ingest.ts";

export function prepareJudgeBatch(db: Connection, absences: Absences): JudgeBatch {
  const passes = preparePasses(db, absences);
  return (results, { failedIds }, runId) => {
    const idsOf = (wanted: string) =>
      results.flatMap(({ outcome, resourceId }) => (outcome === wanted ? [resourceId] : []));
    const unchanged = idsOf("not-modified");
    const bodies = idsOf("body");
    const gone = idsOf("gone");
    const refused = new Set(failedIds);
    absences.noteSeen([...unchanged, ...bodies.filter((id) => !refused.has(id))]);
    absences.noteBelow(gone, runId);
    passes.judge([...bodies, ...gone, ...failedIds], unchanged, runId);
  };
}
