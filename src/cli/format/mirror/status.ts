/** Formats the status of a mirror for people, now and at an earlier point. */
import { type NewestBackup, stateOfBackup } from "../../../accounts/newest-backup.ts";
import { nameOfUser } from "../../../mirror/account/user.ts";
import { describeCoverage } from "../../../mirror/runs/describe-coverage.ts";
import { sumOf } from "../../../mirror/snapshots/loaded.ts";
import { formatAge } from "../../../presentation/durations.ts";
import { formatBytes, formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatMinute, formatSecond } from "../../../presentation/times.ts";
import { formatKind } from "../../../presentation/words.ts";
import type {
  AccountStatus,
  MirrorStatus,
  PastStatus,
  PossessionStatus,
} from "../../../query/status/status.ts";
import { describeAllowance } from "../../../sync/describe-plan.ts";
import type { OwedChecks } from "../../../sync/plan/owed-checks.ts";
import type { ForecastSummary } from "../../../sync/plan/preview.ts";
import type { Screen } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatTable } from "../../terminal/table/text-table.ts";
import { formatOwedChecks, summarizeForecast, warnOfStaleness } from "./plan.ts";

/** The output of `--json`. */
export type StatusWithOutlook = MirrorStatus &
  ForecastSummary & {
    readonly owedChecks: OwedChecks | null;
    /** Only with `--account`. */
    readonly newestBackup?: NewestBackup | null;
  };

type Width = Pick<Screen, "columns"> | null;

/**
 * @param now epoch milliseconds
 * @param account its name; null for a catalogue, and for another mirror
 * @param screen the terminal; null without one
 */
export function formatStatus(
  status: StatusWithOutlook,
  now: number,
  account: string | null,
  screen: Width = null,
): string {
  const { lastRun, allowance, forecast } = status;
  const parts = [
    status.account === null ? "" : describeAccount(status.account),
    account === null ? "" : describeCheck(status, now),
    account === null ? "" : describeNewestBackup(status.newestBackup ?? null, account, now),
    `Mirror     ${status.mirror} (${formatBytes(status.fileBytes)}, ${formatCount(status.revisions, "revision")})\n`,
    `Service    ${status.baseUrl}\n`,
    describeLastRun(lastRun),
    `Allowance  ${describeAllowance(allowance, now)}\n`,
    describeConfirmation(status),
    forecast === null ? "" : `Forecast   ${summarizeForecast(forecast, "sizes")}\n`,
    account === null ? formatKinds(status, now, screen) : "",
    `\n${describeCoverage(status, formatMinute)}\n${formatOwedChecks(status.owedChecks)}${warnOfStaleness(forecast)}`,
  ];
  if (status.awaitingApproval > 0)
    parts.push(`\nApparently gone, kept until \`armoire sync --approve\`: ${status.awaitingApproval}\n`);
  parts.push(
    describeList("Lists that lost all their items, which are kept:", status.emptiedLists, (list) => [
      list.url,
      `${list.items} of kind ${list.kind}`,
    ]),
    describeList("Partial lists, which prove no removals:", status.partialListings, ({ url, why }) => [
      url,
      why,
    ]),
    describeList("Links that the service must have, missing or invalid:", status.missingLinks, (link) => [
      link.url,
      `links.${link.name}`,
    ]),
    describeList("Failed, to be tried again by the next sync:", status.failures, (failed) => [
      nameOf(failed.kind, failed.key, failed.url),
      failed.error,
    ]),
    describeList("Not requested before the time that the service gave for each:", status.postponed, (one) => [
      one.url,
      `${one.error}, until ${formatMinute(one.retryAt)}`,
    ]),
    describeUnfollowedLinks(status.unfollowedLinks),
    describeList("Unexpected values from the service (stored as sent):", status.issues, (issue) => [
      `${[issue.kind, issue.code, issue.pointer].filter(Boolean).join(" ")}, ${issue.count === 1 ? "once" : `${issue.count} times`}`,
      `${issue.count === 1 ? "" : "for example "}${nameOf(issue.kind, issue.key, issue.href)}`,
      ...(issue.detail === null ? [] : [issue.detail]),
    ]),
  );
  return parts.join("");
}

/** A kind without any known resource has a row because its lists are not fetched. */
const knownOf = ({ known }: { readonly known: number }): number | string => (known === 0 ? "?" : known);

function formatKinds({ kinds }: MirrorStatus, now: number, screen: Width): string {
  const rows = kinds.map((row) => [
    formatKind(row.kind),
    knownOf(row),
    row.held,
    row.due,
    row.failed,
    row.gone,
    ...[row.p50CheckAt, row.p90CheckAt, row.oldestCheckAt].map((at) => formatAge(at, now)),
  ]);
  const ages = ["median age", "90th percentile", "oldest"];
  return `\n${formatTable(["kind", "known", "held", "due", "failed", "gone", ...ages], rows, screen)}`;
}

/** Empty without snapshots. */
function describeConfirmation({ kinds }: MirrorStatus): string {
  const counts = kinds.flatMap(({ confirmed }) => confirmed ?? []);
  if (counts.length === 0) return "";
  const { bytes, validator, unconfirmed } = sumOf(counts);
  return `Confirmed  ${formatNumber(bytes)} by bytes, ${formatNumber(validator)} by validator, ${formatNumber(unconfirmed)} from snapshots not yet\n`;
}

function describeCheck({ kinds }: MirrorStatus, now: number): string {
  const [oldest] = kinds.flatMap(({ oldestCheckAt }) => oldestCheckAt ?? []).toSorted();
  return oldest === undefined ? "" : `Checked    ${formatAge(oldest, now)} ago (${formatMinute(oldest)})\n`;
}

function describeNewestBackup(backup: NewestBackup | null, account: string, now: number): string {
  if (backup === null)
    return `Backup     none known; \`armoire backup --account ${account} --to FOLDER\` makes one\n`;
  const { file, createdAt, verifiedAt, damagedAt } = backup;
  const state = {
    verified: `verified ${formatAge(verifiedAt, now)} ago`,
    damaged: `found damaged ${formatAge(damagedAt, now)} ago`,
    missing: "not there any more",
  }[stateOfBackup(backup)];
  return `Backup     ${formatMinute(createdAt)}, ${state}: ${escapeControls(file)}\n`;
}

/** What `armoire show` takes, or else the URL. */
const nameOf = (kind: string, key: string | null, url: string): string =>
  key === null ? url : `${formatKind(kind)} ${key}`;

const maxListed = 20;

/** @param describe gives the lines of one item, which may quote the service */
function describeList<Item>(
  title: string,
  items: readonly Item[],
  describe: (item: Item) => readonly string[],
): string {
  if (items.length === 0) return "";
  const lines = items
    .slice(0, maxListed)
    .map((item) => `  ${describe(item).map(escapeControls).join("\n    ")}\n`);
  const rest = items.length - maxListed;
  if (rest > 0) lines.push(`  and ${rest} more, see --json\n`);
  return `\n${title}\n${lines.join("")}`;
}

function describeAccount({ user, notGranted, bras, measurements, pictures }: AccountStatus): string {
  const describe = (name: string, { held, pending, gone }: PossessionStatus): string => {
    const more = [
      ...(pending > 0 ? [`${pending} to fetch`] : []),
      ...(gone > 0 ? [`${gone} gone, kept`] : []),
    ];
    return `${held} ${name}${more.length === 0 ? "" : ` (${more.join(", ")})`}`;
  };
  const holds = [
    describe("bras", bras),
    describe("measurements", measurements),
    ...(pictures === null
      ? []
      : [
          describe(pictures.held === 1 ? "picture" : "pictures", {
            held: pictures.held,
            pending: pictures.due + pictures.failed,
            gone: 0,
          }),
        ]),
  ];
  return [
    `User       ${escapeControls(nameOfUser(user))}\n`,
    `Holds      ${holds.join(", ")}\n`,
    notGranted.length === 0 ? "" : `Not granted to the token: ${notGranted.join(", ")}\n`,
  ].join("");
}

export function formatPastStatus(past: PastStatus): string {
  const rows = past.kinds.map(({ kind, known, held, due, failed, gone }) => [
    formatKind(kind),
    knownOf({ known }),
    held,
    due,
    failed,
    gone,
  ]);
  return [
    `Mirror     ${past.mirror} (${formatCount(past.revisions, "revision")})\n`,
    `Service    ${past.baseUrl}\n`,
    describeLastRun(past.lastRun),
    `\n${formatTable(["kind", "known", "held", "due", "failed", "gone"], rows)}`,
    `\n${describeCoverage(past, formatMinute)}\n`,
    describeUnfollowedLinks(past.unfollowedLinks),
  ].join("");
}

function describeLastRun(run: MirrorStatus["lastRun"]): string {
  if (run === null) return "No sync yet.\n";
  const open = { running: ", running", "not-finished": ", not finished", ended: "" }[run.state];
  const stopped = run.stopped === null ? "" : `, stopped: ${run.stopped}`;
  const reason = run.error === null ? "" : `Reason     ${escapeControls(run.error)}\n`;
  return `Last run   ${run.id}, ${formatSecond(run.startedAt)}${open}${stopped}\n${reason}`;
}

function describeUnfollowedLinks(unfollowedLinks: MirrorStatus["unfollowedLinks"]): string {
  if (unfollowedLinks.length === 0) return "";
  const links = unfollowedLinks.map(({ name, count }) => `${name} (${formatNumber(count)})`).join(", ");
  return `\nLinks that were not followed (see --follow): ${escapeControls(links)}\n`;
}
