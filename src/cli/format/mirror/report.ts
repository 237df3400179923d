/** Formats the report of a sync for people. The last line says what comes next. */
import type { DriftCode } from "../../../../schema/tables.ts";
import { formatRate } from "../../../presentation/durations.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatMoment } from "../../../presentation/times.ts";
import type { MediaReport, PictureOrigin } from "../../../sync/media/fetch-pictures.ts";
import type { SyncReport } from "../../../sync/report.ts";
import type { AccountSyncReport } from "../../../sync/sync-account.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

export interface ReportContext {
  /** The forecast in words; null to leave it out. */
  readonly outlook: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Requests of the allowance that the run left unused. */
  readonly reserve: number;
  /** The account's name; null for the catalogue. */
  readonly account: string | null;
  /** The options that leave out a part of the catalogue, as in `--depth brands`; null if nothing is left out. */
  readonly limits: string | null;
}

export function formatReport(report: SyncReport, context: ReportContext): string {
  const { outlook, now, reserve, account, limits } = context;
  const { run, resources, requests, seconds } = report;
  const isGuess = requests.notModified > 0 && report.allowance.checkPrice === "unknown";
  const lines = [
    `Run ${run}: ${resources.new} new, ${resources.changed} changed, ${resources.unchanged} unchanged, ${resources.gone} gone` +
      ` in ${seconds.toFixed(1)} s.`,
    `${formatCount(requests.sent, "request")}, ${requests.counted} ${isGuess ? "presumably counted" : "counted"}, ${requests.notModified} not modified.`,
  ];
  if (report.snapshots !== undefined) lines.push(describeSnapshots(report.snapshots));
  const { notGranted = [], withdrawn = [] } = report;
  const neverGranted = notGranted.filter((name) => !withdrawn.includes(name));
  if (neverGranted.length > 0) lines.push(`Not granted to this token: ${neverGranted.join(", ")}.`);
  lines.push(...formatWarnings(report, account));
  if (report.postponedUntil !== undefined) lines.push(describePostponed(report, report.postponedUntil, now));
  if (resources.skipped > 0)
    lines.push(
      `${formatCount(resources.skipped, "link was", "links were")} not followed (another origin, or invalid); \`armoire status${account === null ? "" : ` --account ${account}`}\` shows where.`,
    );
  const { pending, failed, postponed } = resources;
  const isDone = report.complete && report.stopped === null && pending + failed + postponed === 0;
  lines.push(isDone ? describeComplete(report, limits) : describeRest(report, outlook, now, reserve));
  return `${lines.join("\n")}\n`;
}

function describeSnapshots({
  bytes,
  validator,
  unconfirmed,
  differences,
}: NonNullable<SyncReport["snapshots"]>): string {
  const counts = [bytes, validator, unconfirmed].map(formatNumber);
  const differing =
    differences === 0 ? "" : `; ${formatCount(differences, "body", "bodies")} from snapshots replaced`;
  return `Confirmed: ${counts[0]} by bytes, ${counts[1]} by validator, ${counts[2]} not yet${differing}.`;
}

function describePostponed({ resources: { postponed } }: SyncReport, until: string, now: number): string {
  const are = postponed === 1 ? "1 resource is" : `${postponed} resources are`;
  const first = postponed === 1 ? "it" : "the first of them";
  return `${are} postponed, as the service asks for ${postponed === 1 ? "it" : "each"} alone; a sync from ${formatMoment(until, now)} on requests ${first}.`;
}

/** "Up to date" only if the run left no check out: an unchecked resource may have changed. */
function describeComplete(
  { mirror, resources: { notChecked }, snapshots, notGranted = [] }: SyncReport,
  limits: string | null,
): string {
  const everything =
    limits !== null
      ? `Everything within ${limits}`
      : notGranted.length === 0
        ? "Everything"
        : "Everything that the token permits";
  if (notChecked === 0 && snapshots !== undefined && snapshots.unconfirmed > 0)
    return `Complete, but not all of it is confirmed: \`armoire plan\` says what that costs: ${mirror}`;
  return notChecked === 0
    ? `${everything} is up to date: ${mirror}`
    : `Complete; --max-free-checks or --skip-fresher-than left ${notChecked} checks out: ${mirror}`;
}

function describeRest(
  { stopped, resources, allowance, refusal, resumeAt }: SyncReport,
  outlook: string | null,
  now: number,
  reserve: number,
): string {
  const unchecked = resources.notChecked === 0 ? "" : `, ${resources.notChecked} others not checked`;
  const due =
    resources.pending === 0 ? "Nothing else is known to be due" : `${resources.pending} known to be due`;
  const rest = `${due}${unchecked}; the next sync continues here.`;
  switch (stopped) {
    case "allowance": {
      const next = resumeAt === null ? "in a day" : `at ${formatMoment(resumeAt, now)}`;
      if (reserve > 0 && allowance.limit !== null && allowance.limit <= reserve)
        return `--reserve ${reserve} leaves nothing of the known allowance of ${formatRate(allowance.limit, allowance.windowSeconds)}; lower it, or sync again ${next}. ${rest}`;
      if (refusal !== undefined)
        return `Refused: ${escapeControls(refusal)}. Sync again ${next}. ${outlook ?? rest}`;
      // More may remain by our own estimate than the service grants.
      const kept = Math.min(reserve, allowance.remaining ?? 0);
      const reserved = kept > 0 ? ` except for a reserve of ${kept}` : "";
      return `The allowance is spent${reserved}; sync again ${next}. ${outlook ?? rest}`;
    }
    case "budget":
      return `The budget of this run is spent. ${rest}`;
    case "interrupted":
      return `Interrupted; everything fetched is saved. ${rest}`;
    case "approval":
      return `Resources that are gone are kept until you approve. ${rest}`;
    case "error":
      return `${noLongerResponds}${describeProblem(refusal)} ${rest}`;
    default:
      return rest;
  }
}

export const noLongerResponds = "The service no longer responds.";

const describeProblem = (problem: string | undefined): string =>
  problem === undefined ? "" : ` ${escapeControls(problem)}.`;

/** One line per problem, printed also with --quiet. @param account null for the catalogue */
export function formatWarnings(report: SyncReport, account: string | null): string[] {
  const ofAccount = account === null ? "" : ` --account ${account}`;
  const { resources, drift, bulkDeletions, withdrawn = [] } = report;
  const lines: string[] = [];
  if (withdrawn.length > 0)
    lines.push(
      `No longer granted to this token: ${withdrawn.join(", ")}. The mirrored data stays;` +
        ` \`armoire account add${account === null ? " NAME" : ` ${account}`}\` replaces the token.`,
    );
  if (resources.failed > 0)
    lines.push(
      `${resources.failed} failed; \`armoire status${ofAccount}\` lists them, and the next sync tries them again.`,
    );
  if (resources.partial > 0) {
    const lists = formatCount(resources.partial, "list is partial and proves", "lists are partial and prove");
    lines.push(`${lists} no removals; \`armoire status${ofAccount}\` shows where.`);
  }
  if (resources.missingLinks > 0) {
    const links =
      resources.missingLinks === 1
        ? "1 link that the service must have is"
        : `${resources.missingLinks} links that the service must have are`;
    lines.push(
      `${links} missing or invalid, so the mirror is not complete; \`armoire status${ofAccount}\` shows where.`,
    );
  }
  if (drift.length > 0) lines.push(describeDrift(drift, ofAccount));
  if (resources.awaitingApproval > 0)
    lines.push(describeBulkDeletions(bulkDeletions, resources.awaitingApproval, ofAccount));
  return lines;
}

/** The same with a prefix, for --quiet. */
export function formatOnlyWarnings(report: SyncReport, account: string | null): string {
  const lines = formatWarnings(report, account);
  if (report.stopped === "error")
    lines.push(`${noLongerResponds}${describeProblem(report.refusal)} The next sync continues here.`);
  const where = account === null ? "" : ` of ${account}`;
  return lines.map((line) => `armoire: sync${where}: ${line}\n`).join("");
}

const maxShown = 3;

/** The first texts, and how many more there are. */
function listSome(texts: readonly string[], countMore: (rest: number) => string): string {
  const rest = texts.length - maxShown;
  return [...texts.slice(0, maxShown), ...(rest > 0 ? [countMore(rest)] : [])].join(", ");
}

const wordsOfDrift: Readonly<Record<DriftCode, string>> = {
  "unknown-field": "unknown field",
  "unknown-link": "unknown link",
  "wrong-type": "wrong type",
};

function describeDrift(drift: SyncReport["drift"], ofAccount: string): string {
  const places = drift.map(({ kind, pointer, code }) =>
    escapeControls(`${kind} ${pointer} (${wordsOfDrift[code]})`),
  );
  return (
    `New in the service's responses: ${listSome(places, (rest) => `${rest} more`)}. They are kept in the bodies;` +
    ` \`armoire query "select * from schema_drift"${ofAccount}\` lists them.`
  );
}

function describeBulkDeletions(
  bulkDeletions: SyncReport["bulkDeletions"],
  awaitingApproval: number,
  ofAccount: string,
): string {
  const counts = bulkDeletions.map(({ absent, of, kind, collection }) => {
    const count = `${absent} of ${of} of kind ${kind}`;
    return collection === null ? count : `${count} in ${collection}`;
  });
  const shown = listSome(counts, (rest) => `${rest} more ${rest === 1 ? "list" : "lists"}`);
  return (
    `Waiting for approval, ${awaitingApproval} in all: ${shown} disappeared at once.` +
    ` \`armoire sync${ofAccount} --approve\` accepts them.`
  );
}

/** The parts for linked catalogue resources and pictures; empty if neither was requested. */
export function formatAccountParts(
  { catalogue, media }: AccountSyncReport,
  account: string,
  now: number,
): string {
  const ofCatalogue =
    catalogue === undefined || catalogue === null
      ? ""
      : `Linked resources in the catalogue's mirror:\n${formatReport(catalogue, { outlook: null, now, reserve: 0, account: null, limits: null })}`;
  return ofCatalogue + (media === undefined || media === null ? "" : describeMedia(media, account));
}

/** One line per problem of all parts, for --quiet. */
export function formatAccountWarnings(report: AccountSyncReport, account: string | null): string {
  const { catalogue, media } = report;
  const ofCatalogue = catalogue ? formatOnlyWarnings(catalogue, null) : "";
  const failed = media?.pictures.failed ?? 0;
  const ofMedia =
    failed === 0
      ? ""
      : `armoire: ${failed} ${failed === 1 ? "picture" : "pictures"} failed; the next sync with --media tries again.\n`;
  return formatOnlyWarnings(report, account) + ofCatalogue + ofMedia;
}

export function formatOrigins(origins: readonly PictureOrigin[]): string {
  const lines = origins.map(({ origin, pictures }) => `  ${origin}  ${pictures}\n`);
  return `Some pictures are at these hosts, which get requests without a credential:\n${lines.join("")}`;
}

function describeMedia({ pictures, requests, stopped }: MediaReport, account: string): string {
  const { failed, gone, pending, bytes } = pictures;
  const lines = [
    `Pictures: ${pictures.new} new, ${pictures.changed} changed, ${pictures.unchanged} unchanged; ${bytes} bytes in ${requests.sent} ${requests.sent === 1 ? "request" : "requests"}.`,
  ];
  const query = `select url, error from media where error is not null`;
  if (failed + gone > 0) {
    lines.push(
      `${failed} failed, ${gone} are gone; earlier downloads stay. \`armoire query "${query}" --account ${account}\` shows the reasons.`,
    );
  }
  if (pending > 0)
    lines.push(
      `${pending} were not requested${stopped === null ? "" : ` (${stopped})`}; the next sync with --media continues here.`,
    );
  return `${lines.join("\n")}\n`;
}
