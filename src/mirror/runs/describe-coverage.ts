/** Says for people how whole and how fresh a mirror is. Pure. */
import { formatNumber } from "../../presentation/numbers.ts";
import { utcMinute } from "../../presentation/times.ts";
import { sumOf } from "../snapshots/loaded.ts";
import type { KindCoverage } from "./count-kinds.ts";
import { type Coverage, listKinds, relationKinds } from "./coverage.ts";

/**
 * One sentence for people: what is missing, and when the rest was checked.
 * @param showTime shows an ISO 8601 time to the minute; default: in UTC
 */
export function describeCoverage(
  { complete, kinds }: Coverage,
  showTime = utcMinute,
  everything = "everything known",
): string {
  const text = complete ? `Complete: ${everything} is held` : listGaps(kinds);
  return `${text}${describeConfirmed(kinds)}${describeChecks(kinds, showTime)}.`;
}

/** Only what is missing, without times, so that the same state gives the same text; null if it is complete. */
export const describeMissing = ({ complete, kinds }: Coverage): string | null =>
  complete ? null : `${listGaps(kinds)}.`;

function listGaps(kinds: readonly KindCoverage[]): string {
  const gaps = kinds.flatMap(describeGaps);
  return `Not complete: ${gaps.length === 0 ? "nothing is held" : gaps.join("; ")}`;
}

/** What is missing of one kind, in words. */
export function describeGaps(coverage: KindCoverage): string[] {
  const { kind, held, due, failed, partial, missingLinks, awaitingApproval } = coverage;
  const name = kind.replaceAll("_", " ");
  const missing = due + failed;
  const isList = listKinds.has(kind) || relationKinds.has(kind);
  const pages = missing === 1 ? `1 page that lists ${name} is` : `${missing} pages that list ${name} are`;
  return [
    ...(missing > 0 ? [isList ? `${pages} not fetched` : `${held} of ${held + missing} ${name}s held`] : []),
    ...(partial > 0 ? [`${partial} ${partial === 1 ? "list" : "lists"} of ${name} inconsistent`] : []),
    ...(missingLinks > 0
      ? [
          `${missingLinks} ${missingLinks === 1 ? "link" : "links"} to ${isList ? `lists of ${name}` : name} missing`,
        ]
      : []),
    ...(awaitingApproval > 0
      ? [`${awaitingApproval} absent ${isList ? name : `${name}s`} await approval`]
      : []),
  ];
}

/** The same for an export. */
export const describeExportCoverage = (coverage: Coverage, showTime = utcMinute): string =>
  describeCoverage(coverage, showTime, "everything known that belongs in this export");

/** One sentence if something of these tables is missing, else none. @param coverage null for what no mirror counts */
export const gapsOf = (coverage: Coverage | null, showTime = utcMinute): readonly string[] =>
  coverage === null || coverage.complete ? [] : [describeCoverage(coverage, showTime)];

/** The same for two compared states. @param hasEarlier whether there is one to compare with */
export function gapsOfDiff(
  { from, to }: { readonly from: Coverage | null; readonly to: Coverage | null },
  hasEarlier: boolean,
  showTime = utcMinute,
): readonly string[] {
  const earlier = "Earlier state (what it lacked counts as added): ";
  return [
    ...gapsOf(hasEarlier ? from : null, showTime).map((gap) => earlier + gap),
    ...gapsOf(to, showTime).map((gap) => (hasEarlier ? `Later state: ${gap}` : gap)),
  ];
}

/** Only what the service has not sent itself. */
function describeConfirmed(kinds: readonly KindCoverage[]): string {
  const { validator, unconfirmed } = sumOf(kinds.flatMap(({ confirmed }) => confirmed ?? []));
  const parts = [
    ...(unconfirmed > 0 ? [`${formatNumber(unconfirmed)} not confirmed by the service`] : []),
    ...(validator > 0 ? [`${formatNumber(validator)} confirmed by their validators alone`] : []),
  ];
  return parts.length === 0 ? "" : `; from snapshots, ${parts.join(" and ")}`;
}

function describeChecks(kinds: readonly KindCoverage[], showTime: (at: string) => string): string {
  const times = kinds.flatMap(({ oldestCheckAt, newestCheckAt }) => [oldestCheckAt, newestCheckAt]);
  const [oldest, newest] = [times.filter((at) => at !== null).sort()].flatMap((at) => [at[0], at.at(-1)]);
  if (oldest === undefined || newest === undefined) return "";
  const [first, last] = [showTime(oldest), showTime(newest)];
  return first === last ? `; checked ${first}` : `; checked from ${first} to ${last}`;
}
