/** What a sync did, in words; the last line says what comes next. */

import type { MediaReport, PictureOrigin } from "../../sync/media/fetch-pictures.ts";
import type { SyncReport } from "../../sync/report.ts";
import type { AccountSyncReport } from "../../sync/sync-account.ts";
import { formatMoment } from "../terminal/format.ts";

export interface ReportContext {
  /** What the next days bring, in words; null to leave it out. */
  readonly outlook: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Requests of the allowance that the run had to leave for others. */
  readonly reserve: number;
  /** The account that it was about; null for none. */
  readonly account: string | null;
}

export function formatReport(report: SyncReport, context: ReportContext): string {
  const { outlook, now, reserve, account } = context;
  const { run, resources, requests, complete, seconds } = report;
  const isGuess = requests.notModified > 0 && report.allowance.checkPrice === "unknown";
  const lines = [
    `Run ${run}: ${resources.new} new, ${resources.changed} changed, ${resources.unchanged} unchanged, ${resources.gone} gone` +
      ` in ${seconds.toFixed(1)} s.`,
    `${requests.sent} requests, ${requests.counted} ${isGuess ? "taken for counted" : "counted"}, ${requests.notModified} not modified.`,
  ];
  const { notGranted = [], withdrawn = [] } = report;
  const neverGranted = notGranted.filter((name) => !withdrawn.includes(name));
  if (neverGranted.length > 0) lines.push(`Not granted to this token: ${neverGranted.join(", ")}.`);
  lines.push(...formatWarnings(report, account));
  if (resources.skipped > 0)
    lines.push(
      `${resources.skipped} links were not followed, since they lead to other origins or are no addresses; \`armoire status${account === null ? "" : ` --account ${account}`}\` shows where.`,
    );
  lines.push(complete ? describeWhole(report) : describeRest(report, outlook, now, reserve));
  return `${lines.join("\n")}\n`;
}

/** What nothing owes a check may still have changed: only a run that left none out knows better. */
function describeWhole({ mirror, resources: { notChecked }, notGranted = [] }: SyncReport): string {
  return notChecked === 0
    ? `Everything ${notGranted.length === 0 ? "" : "that is granted "}is up to date: ${mirror}`
    : `Nothing is owed; ${notChecked} not checked in this run, by --max-free-checks or --skip-fresher-than: ${mirror}`;
}

function describeRest(
  { stopped, resources, allowance, resumeAt }: SyncReport,
  outlook: string | null,
  now: number,
  reserve: number,
): string {
  const unchecked = resources.notChecked === 0 ? "" : `, ${resources.notChecked} more not checked`;
  const due = resources.pending === 0 ? "Nothing else is due" : `${resources.pending} still due`;
  const rest = `${due} as far as is known${unchecked}; the next sync goes on from here.`;
  switch (stopped) {
    case "allowance": {
      const next = resumeAt === null ? "in a day" : `at ${formatMoment(resumeAt, now)}`;
      if (reserve > 0 && allowance.limit !== null && allowance.limit <= reserve)
        return `Nothing is left beside --reserve ${reserve}: the service grants ${allowance.limit} a day as far as is known; lower it, or run it again ${next}. ${rest}`;
      const kept = allowance.remaining ? ` but for ${allowance.remaining} kept for others` : "";
      return `The allowance is spent${kept}; run it again ${next}. ${outlook ?? rest}`;
    }
    case "budget":
      return `The budget of this run is spent. ${rest}`;
    case "interrupted":
      return `Interrupted; everything fetched is saved. ${rest}`;
    case "approval":
      return `What is gone is kept as it was until it is approved. ${rest}`;
    case "error":
      return `${stoppedAnswering} ${rest}`;
    default:
      return rest;
  }
}

/** What went wrong in a sync that came to its end: told also to who asked for quiet. */

export const stoppedAnswering = "The service stopped answering.";

/** A line for each trouble; none when all is well. @param account that it was about; null for none */
export function formatWarnings(report: SyncReport, account: string | null): string[] {
  const ofAccount = account === null ? "" : ` --account ${account}`;
  const { resources, masses, withdrawn = [] } = report;
  const lines: string[] = [];
  if (withdrawn.length > 0)
    lines.push(
      `No longer granted to this token: ${withdrawn.join(", ")}. What is mirrored of that stays;` +
        ` \`armoire account add${account === null ? " NAME" : ` ${account}`}\` takes another token.`,
    );
  if (resources.failed > 0)
    lines.push(
      `${resources.failed} failed; \`armoire status${ofAccount}\` lists them, the next sync tries them again.`,
    );
  if (resources.partial > 0) {
    const many = resources.partial === 1 ? "1 list is" : `${resources.partial} lists are`;
    lines.push(
      `${many} partial, so nothing is taken for gone from there; \`armoire status${ofAccount}\` shows where.`,
    );
  }
  if (resources.waiting > 0) lines.push(describeMasses(masses, resources.waiting, ofAccount));
  return lines;
}

/** The same for who is told nothing else of the run. */
export function formatOnlyWarnings(report: SyncReport, account: string | null): string {
  const lines = formatWarnings(report, account);
  if (report.stopped === "error") lines.push(`${stoppedAnswering} The next sync goes on from here.`);
  const where = account === null ? "" : ` of ${account}`;
  return lines.map((line) => `armoire: sync${where}: ${line}\n`).join("");
}

const shownMasses = 3;

function describeMasses(masses: SyncReport["masses"], waiting: number, ofAccount: string): string {
  const shown = masses.slice(0, shownMasses).map(({ absent, of, kind, collection }) => {
    const what = `${absent} of ${of} of kind ${kind}`;
    return collection === null ? what : `${what} in ${collection}`;
  });
  const rest = masses.length - shownMasses;
  const more = rest > 0 ? [`${rest} more ${rest === 1 ? "list" : "lists"}`] : [];
  return (
    `Waiting for approval, ${waiting} in all: ${[...shown, ...more].join(", ")} are gone at once.` +
    ` \`armoire sync${ofAccount} --approve\` lets them go.`
  );
}

/** What a sync of an account did with what is not her data itself: the catalogue beside it, and pictures. */

/** After the words on the account itself; empty where neither was wanted. */
export function formatAccountParts(
  { catalogue, media }: AccountSyncReport,
  account: string,
  now: number,
): string {
  const ofCatalogue =
    catalogue === undefined || catalogue === null
      ? ""
      : `What the bras are, in the catalogue's mirror:\n${formatReport(catalogue, { outlook: null, now, reserve: 0, account: null })}`;
  return ofCatalogue + (media === undefined || media === null ? "" : describeMedia(media, account));
}

/** For who is told nothing else: a line for each trouble that is no error of its own. */
export function formatAccountWarnings(report: AccountSyncReport, account: string | null): string {
  const { catalogue, media } = report;
  const ofCatalogue = catalogue ? formatOnlyWarnings(catalogue, null) : "";
  const failed = media?.pictures.failed ?? 0;
  const ofMedia =
    failed === 0
      ? ""
      : `armoire: ${failed} ${failed === 1 ? "picture" : "pictures"} failed; the next --media tries again.\n`;
  return formatOnlyWarnings(report, account) + ofCatalogue + ofMedia;
}

export function formatOrigins(origins: readonly PictureOrigin[]): string {
  const lines = origins.map(({ origin, pictures }) => `  ${origin}  ${pictures}\n`);
  return `Pictures are also at these places, which are asked for so many, without any credential:\n${lines.join("")}`;
}

function describeMedia({ pictures, requests, stopped }: MediaReport, account: string): string {
  const { failed, gone, pending, bytes } = pictures;
  const lines = [
    `Pictures: ${pictures.new} new, ${pictures.changed} changed, ${pictures.unchanged} unchanged; ${bytes} bytes in ${requests.sent} ${requests.sent === 1 ? "request" : "requests"}.`,
  ];
  const why = `select url, error from media where error is not null`;
  if (failed + gone > 0) {
    lines.push(
      `${failed} failed, ${gone} are gone; what was downloaded before stays. \`armoire query "${why}" --account ${account}\` says why.`,
    );
  }
  if (pending > 0)
    lines.push(
      `${pending} were not asked for${stopped === null ? "" : ` (${stopped})`}; the next --media goes on from here.`,
    );
  return `${lines.join("\n")}\n`;
}
