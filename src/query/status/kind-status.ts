/** How many resources of each kind a mirror holds, and when they were checked. */
import { sql } from "kysely";
import { isoTime, prepare } from "../../mirror/file/statements.ts";
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

function countKinds({
  db,
}: MirrorReader): Omit<KindStatus, "partial" | "missingLinks" | "awaitingApproval">[] {
  /** @param rank among the held resources of the kind; 1 is the newest check */
  const checkAt = (rank: string) =>
    isoTime<string | null>(`max(at) filter (where state = 'held' and rank = ${rank})`);
  return prepare(db, () =>
    q
      .with("ranked", (cte) =>
        cte
          .selectFrom("_resource")
          .select(["id", "kind", "state", "retry_at", "checked_at as at"])
          .select(
            sql<number>`row_number() over (partition by kind, state order by checked_at desc)`.as("rank"),
          )
          .select(sql<number>`count(*) over (partition by kind, state)`.as("count"))
          .where(isCounted),
      )
      .selectFrom("ranked")
      .select(["kind", (eb) => eb.fn.countAll<number>().as("known")])
      .select([
        sql<number>`sum(state = 'held')`.as("held"),
        sql<number>`sum(${isDue})`.as("due"),
        sql<number>`sum(${isFailed})`.as("failed"),
        sql<number>`sum(state = 'gone')`.as("gone"),
      ])
      .select([
        checkAt("count").as("oldestCheckAt"),
        checkAt("(9 * count + 9) / 10").as("p90CheckAt"),
        checkAt("(count + 1) / 2").as("p50CheckAt"),
        checkAt("1").as("newestCheckAt"),
      ])
      .groupBy("kind")
      .orderBy((eb) => eb.fn.min("id")),
  ).all();
}
