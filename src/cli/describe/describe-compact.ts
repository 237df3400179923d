/** What `armoire mirror compact` does and has done, in words. */
import type { CompactProgress, CompactReport } from "../../mirror/compact-mirror.ts";
import { formatBytes } from "../terminal/format-bytes.ts";
import { describeRetention } from "./describe-retention.ts";

export function describeCompacting(progress: CompactProgress): string {
  return progress.step === "compress"
    ? `Compressing: ${progress.bodies} of ${progress.of} bodies`
    : "Writing the file anew";
}

export function describeCompactReport(report: CompactReport): string {
  const { mirror, bytesBefore, bytesAfter, isStillRead, bodies, retention } = report;
  const forgotten = retention === null ? "" : describeRetention(retention, false);
  return `${forgotten}${mirror}: ${formatBytes(bytesBefore)} before, ${formatBytes(bytesAfter)} now
${bodies.count} bodies of ${formatBytes(bodies.bytes)} take ${formatBytes(bodies.storedBytes)}
${isStillRead ? "Somebody reads it as it was; once they have closed it, the next sync or compact makes its file smaller.\n" : ""}`;
}
