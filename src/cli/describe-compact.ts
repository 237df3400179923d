/** What `armoire mirror compact` does and has done, in words. */
import type { CompactProgress, CompactReport } from "../mirror/compact-mirror.ts";

export function describeCompacting(progress: CompactProgress): string {
  return progress.step === "compress"
    ? `Compressing: ${progress.bodies} of ${progress.of} bodies`
    : "Writing the file anew";
}

export function describeCompactReport({ mirror, bytesBefore, bytesAfter, bodies }: CompactReport): string {
  return `${mirror}: ${inMebibytes(bytesBefore)} before, ${inMebibytes(bytesAfter)} now
${bodies.count} bodies of ${inMebibytes(bodies.bytes)} take ${inMebibytes(bodies.storedBytes)}
`;
}

function inMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
