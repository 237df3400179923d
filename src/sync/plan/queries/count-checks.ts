/** Counts checks without reading their resources, of which there may be as many as the mirror has. */
import type { Connection } from "../../../mirror/file/connection.ts";
import { prepareColumn } from "../../../mirror/file/statements.ts";
import { idsIn, q } from "../../../mirror/queries/query-builder.ts";
import type { PlanRequest } from "../request.ts";
import {
  type HeldParameters,
  heldParameters,
  isCheckable,
  isFreeAndPresent,
  isListing,
  type ListingParameters,
  listingParameters,
  mayHold,
  readRunBeforeCrawl,
  restMillis,
  type SuspectParameters,
  selectSuspected,
  suspectParameters,
} from "./check-conditions.ts";
import { prepareSample } from "./check-queries.ts";

/** The ids of due checks: of samples, of suspects, and of resources that exceed the max staleness. */
export function readDueCheckIds(db: Connection, request: PlanRequest): Set<number> {
  const { maxStalenessMillis } = request;
  const ids = new Set(prepareSample(db, request)().map(({ id }) => id));
  const suspects = prepareColumn(db, (p: SuspectParameters) => selectSuspected(p).select("r.id"));
  for (const id of suspects.iterate(suspectParameters(request))) ids.add(id);
  const stale = heldParameters(request, maxStalenessMillis);
  const overdue = prepareColumn(db, (p: HeldParameters) => selectCheckable(p).select("r.id"));
  if (mayHold(db, stale)) for (const id of overdue.iterate(stale)) ids.add(id);
  return ids;
}

/**
 * The number of checks that a run makes besides: of lists and brands, and of everything else that is free to check.
 * @param without the ids of resources that do not count
 */
export function countOptionalChecks(
  db: Connection,
  request: PlanRequest,
  {
    hasMoreWork,
    isCrawling,
    without,
  }: {
    /** As for `CheckQueries`. */
    readonly hasMoreWork: boolean;
    /** Only lists and brands are checked while anything is to be fetched for the first time. */
    readonly isCrawling: boolean;
    readonly without: ReadonlySet<number>;
  },
): number {
  const runBeforeCrawl = readRunBeforeCrawl(db, request.runId);
  const listings = prepareColumn(db, (p: ListingParameters) =>
    selectCheckable(p).where(isListing(p)).select("r.id"),
  )
    .all(listingParameters(request, runBeforeCrawl, hasMoreWork))
    .filter((id) => !without.has(id));
  const free = heldParameters(request, hasMoreWork ? restMillis : 0, runBeforeCrawl);
  if (isCrawling || !mayHold(db, free)) return listings.length;
  const countFree = prepareColumn(db, (p: HeldParameters & { without: string }) =>
    selectCheckable(p)
      .where(isFreeAndPresent(p))
      .where("r.id", "not in", idsIn(p.without))
      .select((eb) => eb.fn.countAll<number>().as("count")),
  );
  const counted = JSON.stringify([...without, ...listings]);
  return listings.length + (countFree.get({ ...free, without: counted }) ?? 0);
}

const selectCheckable = (p: HeldParameters) => q.selectFrom("_resource as r").where(isCheckable(p));
