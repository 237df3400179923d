/** How many resources of each kind a mirror holds, and when they were checked. */
import { sql } from "kysely";
import { prepare, prepareColumn } from "../../mirror/file/statements.ts";
import { countPictures, type PictureCounts } from "../../mirror/media/media-index.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import {
  coverageOf,
  isCounted,
  isDue,
  isFailed,
  type KindCoverage,
  readCoverage,
} from "../../mirror/runs/coverage.ts";
import { toIso } from "../../platform/clock.ts";
import { q } from "../views.ts";

/** How many resources of one kind a mirror holds, and how fresh they are: also the 90th percentile and the median. */
export interface KindStatus extends KindCoverage {
  /** At least 90 % of the held resources were checked at this time or later; null if nothing is held. */
  readonly p90CheckAt: string | null;
  /** At least half of them. */
  readonly p50CheckAt: string | null;
}

export function readKinds(mirror: MirrorReader): { complete: boolean; kinds: KindStatus[] } {
  const stored = new Map(readCoverage(mirror).kinds.map((coverage) => [coverage.kind, coverage]));
  const known = countKinds(mirror).map((counts): KindStatus => {
    const { partial = 0, missingLinks = 0, awaitingApproval = 0 } = stored.get(counts.kind) ?? {};
    stored.delete(counts.kind);
    return { ...counts, partial, missingLinks, awaitingApproval };
  });
  // Kinds of which nothing is known, because the links to them are missing.
  const unknown = [...stored.values()].map((kind) => ({ ...kind, p90CheckAt: null, p50CheckAt: null }));
  const kinds = [...known, ...unknown, ...countPictureKind(mirror)];
  return { complete: coverageOf(kinds).complete, kinds };
}

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

type Counts = Omit<KindStatus, "partial" | "missingLinks" | "awaitingApproval">;

function countKinds({ db }: MirrorReader): Counts[] {
  const counts = prepare(db, () =>
    q
      .selectFrom("_resource")
      .select(["kind", (eb) => eb.fn.countAll<number>().as("known")])
      .select([
        sql<number>`sum(state = 'held')`.as("held"),
        sql<number>`sum(${isDue})`.as("due"),
        sql<number>`sum(${isFailed})`.as("failed"),
        sql<number>`sum(state = 'gone')`.as("gone"),
      ])
      .where(isCounted)
      .groupBy("kind")
      .orderBy((eb) => eb.fn.min("id")),
  ).all();
  const selectTimes = prepareColumn(db, (p: { kind: string }) =>
    q.selectFrom("_resource").select("checked_at").where("kind", "=", p.kind).where("state", "=", "held"),
  );
  return counts.map((count) => ({ ...count, ...timesOf(selectTimes.all({ kind: count.kind })) }));
}

/** Sorted here: SQLite's ranks of 100,000 rows take half a second, and this a tenth of it. */
function timesOf(
  checks: readonly (number | null)[],
): Pick<KindStatus, "oldestCheckAt" | "p90CheckAt" | "p50CheckAt" | "newestCheckAt"> {
  const sorted = Float64Array.from(checks.filter((time) => time !== null)).sort();
  const count = sorted.length;
  /** @param rank 1 is the newest check */
  const checkAt = (rank: number): string | null => {
    const time = sorted[count - Math.floor(rank)];
    return time === undefined || Number.isNaN(new Date(time).getTime()) ? null : toIso(time);
  };
  return {
    oldestCheckAt: checkAt(count),
    p90CheckAt: checkAt((9 * count + 9) / 10),
    p50CheckAt: checkAt((count + 1) / 2),
    newestCheckAt: checkAt(1),
  };
}
