/** What `armoire mirror compact` does and has done, in words. */
import type { CompactProgress, CompactReport } from "../mirror/compact-mirror.ts";
import { describeRetention } from "./describe-retention.ts";

export function describeCompacting(progress: CompactProgress): string {
  return progress.step === "compress"
    ? `Compressing: ${progress.bodies} of ${progress.of} bodies`
    : "Writing the file anew";
}

export function describeCompactReport(report: CompactReport): string {
  const { mirror, bytesBefore, bytesAfter, bodies, retention } = report;
  const forgotten = retention === null ? "" : describeRetention(retention, false);
  return `${forgotten}${mirror}: ${formatBytes(bytesBefore)} before, ${formatBytes(bytesAfter)} now
${bodies.count} bodies of ${formatBytes(bodies.bytes)} take ${formatBytes(bodies.storedBytes)}
`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 2 ** 20) return `${(bytes / 2 ** 10).toFixed(1)} KiB`;
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
