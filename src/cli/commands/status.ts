/** `armoire status`: what the mirror holds and how fresh it is. */
import type { Command } from "commander";
import { type MirrorStatus, readStatus } from "../../query/status.ts";
import type { Io } from "../io.ts";
import { withMirror } from "../mirror-file.ts";
import { readSettings } from "../settings.ts";
import { formatTable, toShown } from "../text-table.ts";

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
      const status = withMirror(settings, readStatus);
      io.out(settings.json ? `${JSON.stringify(status)}\n` : describeStatus(status));
    });
}

function describeStatus(status: MirrorStatus): string {
  const { lastRun } = status;
  const parts = [
    `Mirror   ${status.mirror} (${(status.fileBytes / 1_048_576).toFixed(1)} MiB, ${status.revisions} revisions)\n`,
    `Service  ${status.baseUrl}\n`,
    lastRun === null
      ? "No sync yet.\n"
      : `Last run ${lastRun.id}, ${lastRun.startedAt}${lastRun.stopped === null ? "" : `, stopped: ${lastRun.stopped}`}\n`,
    "\n",
    formatTable(
      ["kind", "known", "held", "due", "failed", "gone", "checked from", "to"],
      status.kinds.map((row) => [
        row.kind,
        row.known,
        row.held,
        row.due,
        row.failed,
        row.gone,
        row.oldestCheckAt,
        row.newestCheckAt,
      ]),
    ),
  ];
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
