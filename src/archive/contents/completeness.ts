/**
 * What a backup lacks of the resources that its mirror knew. A daily allowance fills a mirror slowly, so most are backed up
 * long before they are complete.
 */
import { isComplete as isWhole } from "../../mirror/runs/coverage.ts";
import type { BackupManifest } from "./manifest.ts";

type Coverage = Pick<
  BackupManifest,
  "coverage" | "partial" | "missingLinks" | "awaitingApproval" | "catalogue"
>;

/** Whether the mirror was complete, with the linked resources and pictures that the user requested. */
export const isComplete = ({
  coverage,
  partial,
  missingLinks,
  awaitingApproval,
  catalogue,
}: Coverage): boolean =>
  isWhole([...coverage, { due: 0, failed: 0, partial, missingLinks, awaitingApproval }]) &&
  countMissingLinked({ catalogue }) === 0;

/** The number of known resources of a kind that are not in the backup. */
export function countMissing({ coverage }: Pick<Coverage, "coverage">, kind: string): number {
  const found = coverage.find((entry) => entry.kind === kind);
  return found === undefined ? 0 : found.due + found.failed;
}

/** The linked catalogue resources in the backup, by kind. */
export const linkedHeld = ({ catalogue }: Pick<Coverage, "catalogue">) =>
  (catalogue?.coverage ?? []).filter(({ held }) => held > 0).map(({ kind, held }) => ({ kind, held }));

/** The number of linked brands, models and sizes in the backup. */
export const countLinked = (manifest: Pick<Coverage, "catalogue">): number =>
  linkedHeld(manifest).reduce((sum, { held }) => sum + held, 0);

/** One line of text, without its end; null if nothing is missing. It may quote the service, so escape it for a terminal. */
export function describeMissing(manifest: Coverage): string | null {
  const parts = manifest.coverage.flatMap(({ kind, due, failed }) => {
    if (kind === "picture") return describePictures(due, failed);
    // Pages of a list are missing. How many items they list is unknown.
    if (!entityKinds.has(kind))
      return due + failed > 0 ? [`the list of ${kind.replaceAll("_", " ")} was not read to its end`] : [];
    return [
      ...(due > 0 ? [`${counted(due, kind)} listed and not fetched yet`] : []),
      ...(failed > 0 ? [`${counted(failed, kind)} listed and could not be fetched`] : []),
    ];
  });
  const { partial, missingLinks, awaitingApproval } = manifest;
  if (partial > 0) parts.push(partial === 1 ? "1 list is inconsistent" : `${partial} lists are inconsistent`);
  if (missingLinks > 0)
    parts.push(
      missingLinks === 1
        ? "1 link that the service must have is missing or invalid"
        : `${missingLinks} links that the service must have are missing or invalid`,
    );
  if (awaitingApproval > 0)
    parts.push(`${awaitingApproval} absent resources are kept until \`armoire sync --approve\``);
  const linked = countMissingLinked(manifest);
  if (linked > 0)
    parts.push(
      `${linked} of ${linked + countLinked(manifest)} brands, models and sizes of the bras missing (--with-catalogue fetches them)`,
    );
  return parts.length === 0 ? null : `Not complete: ${parts.join("; ")}.`;
}

/**
 * One line that says that the catalogue part is not in the backup; null if the user requested it, or if nothing is linked.
 * It describes the backup and is no warning: without the request nothing is missing.
 */
export function describeUnlinked({ catalogue }: Pick<Coverage, "catalogue">): string | null {
  if (catalogue === null || catalogue.isRequested) return null;
  return "The brands, models and sizes that the bras link to are not in it; --with-catalogue fetches them.";
}

/** 0 if the user never requested the catalogue part. */
function countMissingLinked({ catalogue }: Pick<Coverage, "catalogue">): number {
  if (catalogue === null || !catalogue.isRequested) return 0;
  return catalogue.coverage.reduce((sum, { due, failed }) => sum + due + failed, 0);
}

const describePictures = (due: number, failed: number): string[] => [
  ...(due > 0 ? [`${counted(due, "picture")} not downloaded yet; --media downloads them`] : []),
  ...(failed > 0 ? [`${counted(failed, "picture")} noted and could not be downloaded`] : []),
];

const entityKinds = new Set(["root", "brand", "model", "size", "me", "bra", "measurement"]);

const counted = (count: number, kind: string) => (count === 1 ? `1 ${kind} is` : `${count} ${kind}s are`);

/** One line of text; null if the token has all scopes. */
export function describeNotGranted({ notGranted }: Pick<BackupManifest, "notGranted">): string | null {
  return notGranted.length === 0
    ? null
    : `The user's token does not grant these, so they are missing or out of date: ${notGranted.join(", ")}.`;
}
