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
  const forgotten = retention === null ? "" : formatRetention(retention, false);
  return `${forgotten}${mirror}: ${formatBytes(bytesBefore)} before, ${formatBytes(bytesAfter)} now
${bodies.count} bodies of ${formatBytes(bodies.bytes)} take ${formatBytes(bodies.storedBytes)}
${isStillRead ? "Another process is reading the file. After that, the next sync or compact makes it smaller.\n" : ""}`;
}

/** @param isPreview whether nothing was forgotten yet */
export function formatRetention(report: RetentionReport, isPreview: boolean): string {
  const { keep, forget, removed } = report;
  const rows = [
    ...keep.map(({ run, endedAt, reasons }) => [run, endedAt, reasons.join(", ")] as const),
    ...forget.map(
      ({ run, endedAt }) => [run, endedAt, isPreview ? "would be forgotten" : "forgotten"] as const,
    ),
  ].sort(([one], [other]) => other - one);
  const forgotten = `${isPreview ? "Would forget" : "Forgot"} ${forget.length} of ${rows.length} runs`;
  return `${formatTable(["run", "ended", "kept as"], rows)}${forgotten}, with ${removed.revisions} revisions that no kept run contains; their ${removed.bodies} bodies ${isPreview ? "take" : "took"} ${formatBytes(removed.bytes)}.
`;
}
