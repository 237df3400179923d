/** What a sync did, in words; the last line says what comes next. */
import type { SyncReport } from "../../sync/report.ts";
import { formatMoment } from "../terminal/spoken-time.ts";
import { describeTrouble, stoppedAnswering } from "./describe-trouble.ts";

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

export function describeReport(report: SyncReport, context: ReportContext): string {
  const { outlook, now, reserve, account } = context;
  const { run, resources, requests, complete, seconds } = report;
  const isGuess = requests.notModified > 0 && report.allowance.checkPrice === "untried";
  const lines = [
    `Run ${run}: ${resources.new} new, ${resources.changed} changed, ${resources.unchanged} unchanged, ${resources.gone} gone` +
      ` in ${seconds.toFixed(1)} s.`,
    `${requests.sent} requests, ${requests.counted} ${isGuess ? "taken for counted" : "counted"}, ${requests.notModified} not modified.`,
  ];
  const { notGranted = [], withdrawn = [] } = report;
  const neverGranted = notGranted.filter((name) => !withdrawn.includes(name));
  if (neverGranted.length > 0) lines.push(`Not granted to this token: ${neverGranted.join(", ")}.`);
  lines.push(...describeTrouble(report, account));
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
    : `Nothing is owed; ${notChecked} not checked in this run, by --free or --max-age: ${mirror}`;
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
