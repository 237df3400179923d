/** Which runs are kept, and why, and what goes with the others, in words. */
import type { RetentionReport } from "../../mirror/compact-mirror.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { formatTable } from "../terminal/text-table.ts";

/** @param isPreview nothing was forgotten yet */
export function describeRetention(report: RetentionReport, isPreview: boolean): string {
  const { keep, forget, removed } = report;
  const rows = [
    ...keep.map(({ run, endedAt, reasons }) => [run, endedAt, reasons.join(", ")] as const),
    ...forget.map(
      ({ run, endedAt }) => [run, endedAt, isPreview ? "would be forgotten" : "forgotten"] as const,
    ),
  ].sort(([one], [other]) => other - one);
  const forgotten = `${isPreview ? "Would forget" : "Forgot"} ${forget.length} of ${rows.length} runs`;
  return `${formatTable(["run", "ended", "kept as"], rows)}${forgotten}, with ${removed.revisions} revisions that no other run shows; their ${removed.bodies} bodies ${isPreview ? "take" : "took"} ${formatBytes(removed.bytes)}.
`;
}
