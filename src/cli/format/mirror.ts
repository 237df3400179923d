/** Formats the progress and the report of `armoire mirror compact`. */
import type { CompactProgress, CompactReport, RetentionReport } from "../../mirror/compact.ts";
import { formatBytes } from "../terminal/format.ts";
import { formatTable } from "../terminal/text-table.ts";

export function formatCompacting(progress: CompactProgress): string {
  return progress.step === "compress"
    ? `Compressing: ${progress.bodies} of ${progress.of} bodies`
    : "Rewriting the file";
}

export function formatCompactReport(report: CompactReport): string {
  const { mirror, bytesBefore, bytesAfter, isStillRead, bodies, retention } = report;
  const pruned = retention === null ? "" : formatRetention(retention, false);
  return `${pruned}${mirror}: ${formatBytes(bytesBefore)} before, ${formatBytes(bytesAfter)} now
${bodies.count} bodies of ${formatBytes(bodies.bytes)} take ${formatBytes(bodies.storedBytes)}
${isStillRead ? "Another process is reading the file. After that, the next sync or compact makes it smaller.\n" : ""}`;
}

/** @param isPreview whether nothing was pruned yet */
export function formatRetention(report: RetentionReport, isPreview: boolean): string {
  const { keep, prune, removed } = report;
  const rows = [
    ...keep.map(({ run, endedAt, reasons }) => [run, endedAt, reasons.join(", ")] as const),
    ...prune.map(({ run, endedAt }) => [run, endedAt, isPreview ? "would be pruned" : "pruned"] as const),
  ].sort(([one], [other]) => other - one);
  const pruned = `${isPreview ? "Would prune" : "Pruned"} ${prune.length} of ${rows.length} runs`;
  return `${formatTable(["run", "ended", "kept as"], rows)}${pruned}, with ${removed.revisions} revisions that no kept run contains; their ${removed.bodies} bodies ${isPreview ? "take" : "took"} ${formatBytes(removed.bytes)}.
`;
}
