/** `armoire status`: what the mirror holds, how fresh it is, and when the rest will be there. */
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
import { readOutlookOf } from "../../read-plan.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { formatAge } from "../../terminal/format.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls, formatTable } from "../../terminal/text-table.ts";

/** What `--json` prints. */
type StatusWithOutlook = MirrorStatus & ForecastSummary;

export function configure(command: Command, io: Io): void {
  command
    .addOption(asOfOption())
    .addHelpText(
      "after",
      `
Examples:
  armoire status
  armoire status --json --mirror copy.sqlite
  armoire status --as-of -1m
  armoire status --account ada`,
    )
    .action((flags: AsOfFlags) => {
      const settings = readSettings(command, io);
      const asOf = readAsOf(flags, settings, io);
      if (asOf !== undefined) {
        const past = withMirror(settings, readPastStatus, asOf);
        io.out(settings.json ? `${JSON.stringify(past)}\n` : describePastStatus(past));
        return;
      }
      const held = withMirror(settings, readStatus);
      const { mirror: file, baseUrl, area } = held;
      const { allowance, forecast } = readOutlookOf({ file, baseUrl, area }, settings, io);
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
  if (status.waiting > 0)
    parts.push(
      `\nGone as far as is known, and kept until \`armoire sync --approve\` lets go: ${status.waiting}\n`,
    );
  parts.push(
    describeList(
      "Partial lists, from which nothing is taken for gone:",
      status.partialListings,
      ({ url, why }) => [url, why],
    ),
    describeList("Failed, to be tried again:", status.failures, ({ url, error }) => [url, error]),
    describeNoted(status.noted),
    describeList("Odd in what the service sent (kept all the same):", status.issues, (issue) => [
      `${[issue.kind, issue.code, issue.pointer].filter(Boolean).join(" ")}, ${issue.count === 1 ? "once" : `${issue.count} times`}`,
      issue.count === 1 ? issue.href : `${issue.href}, for one`,
      ...(issue.detail === null ? [] : [issue.detail]),
    ]),
  );
  return parts.join("");
}

const mostListed = 20;

/** @param describe the lines of one, which may quote what the service sent */
function describeList<Item>(
  title: string,
  items: readonly Item[],
  describe: (item: Item) => readonly string[],
): string {
  if (items.length === 0) return "";
  const lines = items
    .slice(0, mostListed)
    .map((item) => `  ${describe(item).map(escapeControls).join("\n    ")}\n`);
  const rest = items.length - mostListed;
  if (rest > 0) lines.push(`  and ${rest} more, which --json lists\n`);
  return `\n${title}\n${lines.join("")}`;
}

function describeAccount({ user, notGranted, bras, measurements }: AccountStatus): string {
  const describe = (what: string, { held, toCome, gone }: PossessionStatus): string => {
    const more = [...(toCome > 0 ? [`${toCome} to come`] : []), ...(gone > 0 ? [`${gone} gone, kept`] : [])];
    return `${held} ${what}${more.length === 0 ? "" : ` (${more.join(", ")})`}`;
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
    describeNoted(past.noted),
  ].join("");
}

function describeLastRun(run: MirrorStatus["lastRun"]): string {
  if (run === null) return "No sync yet.\n";
  const open = { running: ", running", "not-finished": ", not finished", ended: "" }[run.state];
  const stopped = run.stopped === null ? "" : `, stopped: ${run.stopped}`;
  return `Last run   ${run.id}, ${run.startedAt}${open}${stopped}\n`;
}

function describeNoted(noted: MirrorStatus["noted"]): string {
  if (noted.length === 0) return "";
  const links = noted.map(({ name, count }) => `${name} (${count})`).join(", ");
  return `\nNoted, not followed (--follow NAME does): ${escapeControls(links)}\n`;
}
