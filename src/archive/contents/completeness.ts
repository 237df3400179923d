/** What a backup lacks of what its mirror knew to be there: a mirror that grows by a daily allowance is backed up long before it is whole. */
import type { BackupManifest } from "./manifest.ts";

type Coverage = Pick<BackupManifest, "coverage" | "catalogue">;

/** Whether everything that was known to be there, and that was wanted, had been fetched. */
export const isComplete = (manifest: Coverage): boolean =>
  manifest.coverage.every(({ due, failed }) => due + failed === 0) && linkedMissing(manifest) === 0;

/** How many of a kind were known and are not in it. */
export function countMissing({ coverage }: Pick<Coverage, "coverage">, kind: string): number {
  const found = coverage.find((one) => one.kind === kind);
  return found === undefined ? 0 : found.due + found.failed;
}

/** Of what the bras link to, what is in it; by kind. */
export const linkedHeld = ({ catalogue }: Pick<Coverage, "catalogue">) =>
  (catalogue?.coverage ?? []).filter(({ held }) => held > 0).map(({ kind, held }) => ({ kind, held }));

/** How many brands, models and sizes are in it. */
export const countLinked = (manifest: Pick<Coverage, "catalogue">): number => sumOf(linkedHeld(manifest));

/** In words, on one line without its end; null where nothing is missing. May quote what the service sent. */
export function describeMissing(manifest: Coverage): string | null {
  const parts = manifest.coverage.flatMap(({ kind, due, failed }) => {
    if (kind === "picture") return describePictures(due, failed);
    // Of a list, pages are missing, and nobody knows how much stands on them.
    if (!entityKinds.has(kind))
      return due + failed > 0 ? [`the list of ${spoken(kind)} was not read to its end`] : [];
    return [
      ...(due > 0 ? [`${counted(due, kind)} listed and not fetched yet`] : []),
      ...(failed > 0 ? [`${counted(failed, kind)} listed and could not be fetched`] : []),
    ];
  });
  const linked = linkedMissing(manifest);
  if (linked > 0)
    parts.push(
      `of what the bras link to, ${linked} of ${linked + countLinked(manifest)} are not in it, which --with-catalogue fetches`,
    );
  return parts.length === 0 ? null : `Not complete: ${parts.join("; ")}.`;
}

/**
 * That what the bras are is not in it, on one line; null where it was asked for, or where they link to nothing. It is no gap:
 * whoever never asked for it is told what the backup is, and not each day that something is wrong.
 */
export function describeUnlinked({ catalogue }: Pick<Coverage, "catalogue">): string | null {
  if (catalogue === null || isWanted(catalogue)) return null;
  return "The brands, models and sizes that the bras link to are not in it; --with-catalogue fetches them.";
}

/** A backup of the second format does not say so: there, what is held was wanted. */
const isWanted = (catalogue: NonNullable<Coverage["catalogue"]>): boolean =>
  catalogue.isWanted || countLinked({ catalogue }) > 0;

/** None where it was never asked for on this account. */
function linkedMissing({ catalogue }: Pick<Coverage, "catalogue">): number {
  if (catalogue === null || !isWanted(catalogue)) return 0;
  return catalogue.coverage.reduce((sum, { due, failed }) => sum + due + failed, 0);
}

const sumOf = (parts: readonly { readonly held: number }[]) => parts.reduce((sum, { held }) => sum + held, 0);

const describePictures = (due: number, failed: number): string[] => [
  ...(due > 0 ? [`${counted(due, "picture")} not downloaded yet, which --media does`] : []),
  ...(failed > 0 ? [`${counted(failed, "picture")} noted and could not be downloaded`] : []),
];

const entityKinds = new Set(["root", "brand", "model", "size", "me", "bra", "measurement"]);

const spoken = (kind: string) => kind.replaceAll("_", " ");
const counted = (count: number, kind: string) => (count === 1 ? `1 ${kind} is` : `${count} ${kind}s are`);

/** In words, on one line; null where everything was granted. */
export function describeNotGranted({ notGranted }: Pick<BackupManifest, "notGranted">): string | null {
  return notGranted.length === 0
    ? null
    : `Not granted by the user's token, so not in it or not up to date: ${notGranted.join(", ")}.`;
}
