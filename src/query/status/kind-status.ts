/** How many resources of each kind a mirror holds, and when they were checked. */
import { countPictures, type PictureCounts } from "../../mirror/media/media-index.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import type { KindCoverage, KindDetails } from "../../mirror/runs/count-kinds.ts";
import { coverageOf, readDetailedKinds, unknownKinds } from "../../mirror/runs/coverage.ts";

/** How many resources of one kind a mirror holds, and how fresh they are: also the 90th percentile and the median. */
export interface KindStatus extends KindCoverage, Pick<KindDetails, "p90CheckAt" | "p50CheckAt"> {}

/** What a run has counted of all kinds. */
export interface MirrorCounts {
  readonly complete: boolean;
  readonly kinds: readonly KindStatus[];
  readonly revisions: number;
  readonly unfollowedLinks: readonly { readonly name: string; readonly count: number }[];
  /** Resources whose last request failed, also held ones. */
  readonly errors: number;
}

export function readCounts(mirror: MirrorReader): MirrorCounts {
  const detailed = readDetailedKinds(mirror);
  const known = detailed.map(
    ({ errors: _, revisions: __, unfollowedLinks: ___, observed: ____, ...kind }) => kind,
  );
  const unknown = unknownKinds(known).map((kind) => ({ ...kind, p90CheckAt: null, p50CheckAt: null }));
  const kinds = [...known, ...unknown, ...countPictureKind(mirror)];
  const links = new Map<string, number>();
  for (const { unfollowedLinks } of detailed)
    for (const [name, count] of Object.entries(unfollowedLinks))
      links.set(name, (links.get(name) ?? 0) + count);
  return {
    complete: coverageOf(kinds).complete,
    kinds,
    revisions: detailed.reduce((sum, { revisions }) => sum + revisions, 0),
    unfollowedLinks: [...links].map(([name, count]) => ({ name, count })).sort(byName),
    errors: detailed.reduce((sum, { errors }) => sum + errors, 0),
  };
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

/** Of an account's bras; null if no picture is known, or all were gone before they were downloaded. */
export function readPictures({ db }: MirrorReader): PictureCounts | null {
  const counts = countPictures(db);
  return Object.values(counts).some((count) => count > 0) ? counts : null;
}

/** Pictures count like in a backup, though no run stores when they were checked. */
function countPictureKind(mirror: MirrorReader): KindStatus[] {
  const counts = mirror.identity.area === "account" ? readPictures(mirror) : null;
  if (counts === null) return [];
  const known = counts.held + counts.due + counts.failed;
  const noGaps = { gone: 0, partial: 0, missingLinks: 0, awaitingApproval: 0 };
  const noTimes = { oldestCheckAt: null, p90CheckAt: null, p50CheckAt: null, newestCheckAt: null };
  return [{ kind: "picture", known, ...counts, ...noGaps, ...noTimes }];
}
