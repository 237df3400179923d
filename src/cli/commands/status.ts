/** `armoire status`: what the mirror holds, how fresh it is, and when the rest will be there. */
import type { Command } from "commander";
import { type MirrorStatus, readStatus } from "../../query/status.ts";
import type { Outlook } from "../../sync/outlook.ts";
import { summarizeForecast } from "../describe-forecast.ts";
import { describeAllowance } from "../describe-plan.ts";
import type { Io } from "../io.ts";
import { withMirror } from "../mirror-file.ts";
import { readOutlookOf } from "../read-plan.ts";
import { readSettings } from "../settings.ts";
import { formatAge } from "../spoken-time.ts";
import { formatTable, toShown } from "../text-table.ts";

/** What `--json` prints. */
type StatusWithOutlook = MirrorStatus & Outlook;

export function configure(command: Command, io: Io): void {
  command
    .addHelpText(
      "after",
      `
Examples:
  armoire status
  armoire status --json --mirror copy.sqlite`,
    )
    .action(() => {
      const settings = readSettings(command, io);
      const held = withMirror(settings, readStatus);
      const { mirror: file, baseUrl } = held;
      const { allowance, forecast } = readOutlookOf({ file, baseUrl }, settings, io);
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
    lastRun === null
      ? "No sync yet.\n"
      : `Last run   ${lastRun.id}, ${lastRun.startedAt}${lastRun.stopped === null ? "" : `, stopped: ${lastRun.stopped}`}\n`,
    `Allowance  ${describeAllowance(allowance, now)}\n`,
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
  if (status.partialListings.length > 0) {
    const lines = status.partialListings.map(({ url, why }) => `  ${url}\n    ${toShown(why)}\n`);
    parts.push(`\nPartial lists, from which nothing is taken for gone:\n${lines.join("")}`);
  }
  if (status.failures.length > 0) {
    const lines = status.failures.map(({ url, error }) => `  ${url}\n    ${toShown(error)}\n`);
    parts.push(`\nFailed, to be tried again:\n${lines.join("")}`);
  }
  if (status.noted.length > 0) {
    const links = status.noted.map(({ name, count }) => `${name} (${count})`).join(", ");
    parts.push(`\nNoted, not followed (--follow NAME does): ${toShown(links)}\n`);
  }
  if (status.issues.length > 0) {
    const rows = status.issues.map(({ kind, code, pointer, count }) => [kind, code, pointer, count]);
    parts.push(
      `\nOdd in what the service sent (kept all the same):\n${formatTable(["kind", "what", "where", "times"], rows)}`,
    );
  }
  return parts.join("");
}
