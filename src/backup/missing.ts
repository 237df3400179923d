/** What a backup lacks of what its mirror knew to be there: a mirror that grows by a daily allowance is backed up long before it is whole. */
import type { BackupManifest } from "./manifest.ts";

type Coverage = Pick<BackupManifest, "coverage">;

/** Whether everything that was known to be there had been fetched. */
export const isComplete = ({ coverage }: Coverage): boolean =>
  coverage.every(({ due, failed }) => due + failed === 0);

/** How many of a kind were known and are not in it. */
export function countMissing({ coverage }: Coverage, kind: string): number {
  const found = coverage.find((one) => one.kind === kind);
  return found === undefined ? 0 : found.due + found.failed;
}

/** In words, on one line without its end; null where nothing is missing. May quote what the service sent. */
export function describeMissing({ coverage }: Coverage): string | null {
  const parts = coverage.flatMap(({ kind, due, failed }) => {
    // Of a list, pages are missing, and nobody knows how much stands on them.
    if (!entityKinds.has(kind))
      return due + failed > 0 ? [`the list of ${spoken(kind)} was not read to its end`] : [];
    return [
      ...(due > 0 ? [`${counted(due, kind)} listed and not fetched yet`] : []),
      ...(failed > 0 ? [`${counted(failed, kind)} listed and could not be fetched`] : []),
    ];
  });
  return parts.length === 0 ? null : `Not complete: ${parts.join("; ")}.`;
}

const entityKinds = new Set(["root", "brand", "model", "size", "me", "bra", "measurement"]);

const spoken = (kind: string) => kind.replaceAll("_", " ");
const counted = (count: number, kind: string) => (count === 1 ? `1 ${kind} is` : `${count} ${kind}s are`);

/** In words, on one line; null where everything was granted. */
export function describeNotGranted({ notGranted }: Pick<BackupManifest, "notGranted">): string | null {
  return notGranted.length === 0
    ? null
    : `Not granted by the user's token, so not in it or not up to date: ${notGranted.join(", ")}.`;
}
