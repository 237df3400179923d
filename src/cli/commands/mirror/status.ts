/** `armoire status`: coverage, freshness, allowance, forecast and problems of a mirror. */
import type { Command } from "commander";
import { nameOfUser } from "../../../mirror/account/user.ts";
import {
  type AccountStatus,
  type MirrorStatus,
  type PastStatus,
  type PossessionStatus,
  readPastStatus,
  readStatus,
} from "../../../query/status.ts";
import type { ForecastSummary } from "../../../sync/plan/preview.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { formatAllowance, summarizeForecast } from "../../format/plan.ts";
import { readOutlook } from "../../read-plan.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { formatAge } from "../../terminal/format.ts";
import { addHelp } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls, formatTable } from "../../terminal/text-table.ts";

/** The output of `--json`. */
type StatusWithOutlook = MirrorStatus & ForecastSummary;

export function configure(command: Command, io: Io): void {
  command.addOption(asOfOption());
  addHelp(command, {
    details: [
      "Prints, for each kind, how many resources are known, held, due, failed and gone, and the age of their last checks: " +
        "p50 and p90 are percentiles. Then come the allowance, the forecast, failed resources, partial lists, and unexpected " +
        "values in the service's responses, each with an example. The text shows 20 entries of a list, --json all. It sends " +
        "nothing.",
      "With --account, it also prints the user, the bras and measurements, and the permissions that the token lacks. With " +
        "--as-of, ages, failures and unexpected values are left out: they are not recorded for the past.",
    ],
    examples: [
      "armoire status",
      "armoire status --json --mirror copy.sqlite",
      "armoire status --as-of -1m",
      "armoire status --account ada",
    ],
  });
  command.action((flags: AsOfFlags) => {
    const settings = readSettings(command, io);
    const asOf = readAsOf(flags, settings, io);
    if (asOf !== undefined) {
      const past = withMirror(settings, readPastStatus, asOf);
      io.out(settings.json ? `${JSON.stringify(past)}\n` : describePastStatus(past));
      return;
    }
    const held = withMirror(settings, readStatus);
    const { mirror: file, baseUrl, area } = held;
    const { allowance, forecast } = readOutlook({ file, baseUrl, area }, settings, io);
    const status = { ...held, allowance, forecast };
    io.out(settings.json ? `${JSON.stringify(status)}\n` : describeStatus(status, Date.now()));
  });
}

/** @param now epoch milliseconds */
function describeStatus(status: StatusWithOutlook, now: number): string {
  const { lastRun, allowance, forecast } = status;
  const parts = [
    `Mirror     ${status.mirror} (${(status.fileBytes / 1_048_576).toFixed(1)} MiB, ${status.revisions} revisions)\n`,
    `Service    ${status.baseUrl}\n`,
    status.account === null ? "" : describeAccount(status.account),
    describeLastRun(lastRun),
    `Allowance  ${formatAllowance(allowance, now)}\n`,
    forecast === null ? "" : `Forecast   ${summarizeForecast(forecast, "sizes")}\n`,
    "\n",
    formatTable(
      ["kind", "known", "held", "due", "failed", "gone", "age p50", "p90", "oldest"],
      status.kinds.map((row) => [
        row.kind,
        row.known,
        row.held,
        row.due,
        row.failed,
        row.gone,
        ...[row.p50CheckAt, row.p90CheckAt, row.oldestCheckAt].map((at) => formatAge(at, now)),
      ]),
    ),
  ];
  if (status.awaitingApproval > 0)
    parts.push(`\nApparently gone, kept until \`armoire sync --approve\`: ${status.awaitingApproval}\n`);
  parts.push(
    describeList("Partial lists, which prove no removals:", status.partialListings, ({ url, why }) => [
      url,
      why,
    ]),
    describeList("Failed, to be tried again by the next sync:", status.failures, ({ url, error }) => [
      url,
      error,
    ]),
    describeUnfollowedLinks(status.unfollowedLinks),
    describeList("Unexpected values from the service (stored as sent):", status.issues, (issue) => [
      `${[issue.kind, issue.code, issue.pointer].filter(Boolean).join(" ")}, ${issue.count === 1 ? "once" : `${issue.count} times`}`,
      issue.count === 1 ? issue.href : `for example ${issue.href}`,
      ...(issue.detail === null ? [] : [issue.detail]),
    ]),
  );
  return parts.join("");
}

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

function describeAccount({ user, notGranted, bras, measurements }: AccountStatus): string {
  const describe = (name: string, { held, pending, gone }: PossessionStatus): string => {
    const more = [
      ...(pending > 0 ? [`${pending} to fetch`] : []),
      ...(gone > 0 ? [`${gone} gone, kept`] : []),
    ];
    return `${held} ${name}${more.length === 0 ? "" : ` (${more.join(", ")})`}`;
  };
  return [
    `User       ${escapeControls(nameOfUser(user))}\n`,
    `Holds      ${describe("bras", bras)}, ${describe("measurements", measurements)}\n`,
    notGranted.length === 0 ? "" : `Not granted to the token: ${notGranted.join(", ")}\n`,
  ].join("");
}

function describePastStatus(past: PastStatus): string {
  const rows = past.kinds.map(({ kind, known, held, due, failed, gone }) => [
    kind,
    known,
    held,
    due,
    failed,
    gone,
  ]);
  return [
    `Mirror     ${past.mirror} (${past.revisions} revisions)\n`,
    `Service    ${past.baseUrl}\n`,
    describeLastRun(past.lastRun),
    `\n${formatTable(["kind", "known", "held", "due", "failed", "gone"], rows)}`,
    describeUnfollowedLinks(past.unfollowedLinks),
  ].join("");
}

function describeLastRun(run: MirrorStatus["lastRun"]): string {
  if (run === null) return "No sync yet.\n";
  const open = { running: ", running", "not-finished": ", not finished", ended: "" }[run.state];
  const stopped = run.stopped === null ? "" : `, stopped: ${run.stopped}`;
  return `Last run   ${run.id}, ${run.startedAt}${open}${stopped}\n`;
}

function describeUnfollowedLinks(unfollowedLinks: MirrorStatus["unfollowedLinks"]): string {
  if (unfollowedLinks.length === 0) return "";
  const links = unfollowedLinks.map(({ name, count }) => `${name} (${count})`).join(", ");
  return `\nLinks that were not followed (see --follow): ${escapeControls(links)}\n`;
}
