/** `armoire runs`: the run log. */
import type { Command } from "commander";
import { openMirrorReader } from "../../mirror/mirror.ts";
import { listRuns } from "../../mirror/runs.ts";
import type { Io } from "../io.ts";
import { mirrorFileToRead } from "../mirror-file.ts";
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
      const mirror = openMirrorReader(mirrorFileToRead(settings));
      try {
        const runs = listRuns(mirror.db, limit);
        if (settings.json) {
          io.out(`${JSON.stringify(runs)}\n`);
          return;
        }
        const rows = runs.map(({ id, startedAt, endedAt, stopped, counts }) => [
          id,
          startedAt,
          endedAt === null ? "running" : (stopped ?? "done"),
          counts?.requests.counted ?? null,
          counts?.resources.new ?? null,
          counts?.resources.changed ?? null,
          counts?.resources.gone ?? null,
          counts?.resources.failed ?? null,
        ]);
        io.out(formatTable(["run", "started", "ended", "counted", "new", "changed", "gone", "failed"], rows));
      } finally {
        mirror.close();
      }
    });
}
