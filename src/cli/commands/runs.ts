/** `armoire runs`: the run log. */
import type { Command } from "commander";
import { listRuns, type RunRecord } from "../../mirror/runs.ts";
import type { Io } from "../io.ts";
import { withMirror } from "../mirror-file.ts";
import { wholeNumber } from "../option-values.ts";
import { readSettings } from "../settings.ts";
import { formatTable } from "../text-table.ts";

export function configure(command: Command, io: Io): void {
  command
    .option("--limit <n>", "the newest so many", wholeNumber, 20)
    .addHelpText(
      "after",
      `
Examples:
  armoire runs
  armoire runs --limit 100 --json`,
    )
    .action(({ limit }: { limit: number }) => {
      const settings = readSettings(command, io);
      const runs = withMirror(settings, ({ db }) => listRuns(db, limit));
      io.out(settings.json ? `${JSON.stringify(runs)}\n` : describeRuns(runs));
    });
}

function describeRuns(runs: readonly RunRecord[]): string {
  const rows = runs.map(({ id, startedAt, endedAt, stopped, counts, forgottenAt }) => [
    id,
    startedAt,
    `${endedAt === null ? "running" : (stopped ?? "done")}${forgottenAt === null ? "" : ", forgotten"}`,
    counts?.requests.counted ?? null,
    counts?.resources.new ?? null,
    counts?.resources.changed ?? null,
    counts?.resources.gone ?? null,
    counts?.resources.failed ?? null,
  ]);
  return formatTable(["run", "started", "ended", "counted", "new", "changed", "gone", "failed"], rows);
}
