/** Formats the reports of `armoire mirror check` and `compact`, and the progress of `compact`. */
import type { CheckReport } from "../../../mirror/check/check.ts";
import type { CompactProgress, CompactReport, RetentionReport } from "../../../mirror/compact.ts";
import { formatBytes, formatCount } from "../../../presentation/numbers.ts";
import { formatSecond } from "../../../presentation/times.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatTable } from "../../terminal/table/text-table.ts";

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
    ...keep.map(({ run, endedAt, reasons }) => [run, formatSecond(endedAt), reasons.join(", ")] as const),
    ...prune.map(
      ({ run, endedAt }) => [run, formatSecond(endedAt), isPreview ? "would be pruned" : "pruned"] as const,
    ),
  ].sort(([one], [other]) => other - one);
  const pruned = `${isPreview ? "Would prune" : "Pruned"} ${prune.length} of ${formatCount(rows.length, "run")}`;
  return `${formatTable(["run", "ended", "kept as"], rows)}${pruned}, with ${formatCount(removed.revisions, "revision")} that no kept run contains; their ${removed.bodies} bodies ${isPreview ? "take" : "took"} ${formatBytes(removed.bytes)}.
`;
}

/** @param account the account's name; null for the catalogue */
export function formatCheckReport(
  { bodies, resources, pictures, problems }: CheckReport,
  file: string,
  account: string | null,
): string {
  if (problems.length === 0) {
    const shown = pictures === 0 ? "" : `, ${formatCount(pictures, "picture")}`;
    return `Sound: ${formatCount(bodies, "body", "bodies")} and the rows of ${formatCount(resources, "resource")}${shown} in ${file}\n`;
  }
  // Both may quote the file.
  const lines = problems.map(
    ({ code, where, message }) =>
      `${escapeControls(`${code === where ? code : `${code}: ${where}`}: ${message}`)}\n`,
  );
  const count = formatCount(problems.length, "problem");
  const sum = `${lines.join("")}${count} in ${file}.`;
  if (problems.every(({ code }) => code === "media")) {
    const command = `armoire sync --account ${account ?? "NAME"} --media`;
    return `${sum} Remove the changed files; \`${command}\` downloads pictures that are missing.\n`;
  }
  return `${sum} Restore a copy. \`armoire mirror rebuild\` repairs rows, not bodies.\n`;
}
