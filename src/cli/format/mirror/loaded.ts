/** Formats the load of snapshots for people. */
import type { OpenSnapshot } from "../../../archive/snapshot/open.ts";
import type { LoadProgress, LoadReport } from "../../../mirror/load/load-snapshot.ts";
import { formatBytes, formatCount, formatNumber } from "../../../presentation/numbers.ts";
import type { DownloadProgress } from "../../../service/downloads/download.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

/** `run` is null if folders have nothing that is not loaded yet. */
export type GivenReport = Omit<LoadReport, "run"> & { readonly run: number | null };

export const formatLoadProgress = ({ resources, of }: LoadProgress): string =>
  `${formatNumber(resources)} of ${formatCount(of, "resource")} loaded`;

export const formatDownloadProgress = ({ bytes, of }: DownloadProgress): string =>
  `${formatBytes(bytes)} of ${formatBytes(of)} downloaded`;

/** What is about to be loaded. */
export function formatOpened({ description, bytes }: OpenSnapshot): string {
  const { source, baseUrl, takenOn, rootHash } = description;
  const facts = `${formatBytes(bytes)}, of ${baseUrl} on ${takenOn.slice(0, 10)}`;
  return `${escapeControls(source)}: ${facts}\nRoot hash ${rootHash}\n`;
}

export function formatLoaded({ mirror, run, snapshots, sampled, seconds }: GivenReport): string {
  if (run === null) return `Nothing new: all of it was loaded before: ${escapeControls(mirror)}\n`;
  const lines = snapshots.map(({ source, takenOn, resources }) => {
    const counts = [
      `${formatNumber(resources.new)} new`,
      ...(resources.replaced > 0 ? [`${formatNumber(resources.replaced)} replaced`] : []),
      ...(resources.same > 0 ? [`${formatNumber(resources.same)} held already`] : []),
      ...(resources.kept > 0 ? [`${formatNumber(resources.kept)} held as new or newer`] : []),
      ...(resources.unlinked > 0 ? [`${formatNumber(resources.unlinked)} to which nothing links`] : []),
      ...(resources["other-kind"] > 0 ? [`${formatNumber(resources["other-kind"])} of another kind`] : []),
      ...(resources.rejected > 0 ? [`${formatNumber(resources.rejected)} invalid`] : []),
    ];
    return `${escapeControls(source)}, of ${takenOn.slice(0, 10)}: ${counts.join(", ")}.`;
  });
  lines.push(`Run ${run} in ${seconds.toFixed(1)} s: ${escapeControls(mirror)}`);
  if (snapshots.some(({ resources }) => resources.new + resources.replaced > 0))
    lines.push(
      "What was loaded is unconfirmed. `armoire sync` confirms it, and `armoire plan` shows what that costs" +
        `${sampled > 0 ? `: first ${formatCount(sampled, "counted request")} for a sample that is compared whole` : ""}.`,
    );
  return `${lines.join("\n")}\n`;
}
