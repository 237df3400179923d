/** `armoire mirror check|rebuild|compact`: verifies a mirror, recomputes its tables, or makes its file smaller. */
import type { Command } from "commander";
import { kinds } from "../../../../jobs/kinds.ts";
import { checkMirror } from "../../../mirror/check/check.ts";
import { compactMirror, previewRetention } from "../../../mirror/compact.ts";
import type { RetentionPolicy } from "../../../mirror/runs/retention.ts";
import { rebuildMirror } from "../../../mirror/writer.ts";
import { addRetentionFlags, type RetentionFlags, readRetentionFlags } from "../../flags/retention-flags.ts";
import {
  formatCheckReport,
  formatCompacting,
  formatCompactReport,
  formatRetention,
} from "../../format/mirror/mirror.ts";
import { mirrorFileToRead, withMirror } from "../../settings/mirror-file.ts";
import { givenServiceName, readSettings, type Settings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";
import { progressDisplay } from "../../terminal/progress-display.ts";

export function configure(command: Command, io: Io): void {
  addHelp(command, {
    examples: [
      "armoire mirror check",
      "armoire mirror rebuild --mirror copy.sqlite",
      "armoire mirror compact",
      "armoire mirror compact --keep-daily 30 --keep-monthly 24 --dry-run",
    ],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
  const check = command.command("check").description("verify a mirror and its pictures, without writing");
  addHelp(check, {
    details: [
      "Verifies the file, every body and picture against its SHA-256, and every row against its body. A problem gives exit " +
        "code 14.",
    ],
    examples: ["armoire mirror check", "armoire mirror check --account ada --json"],
    exitCodes: exitCodesOfReading,
  });
  check.action(() => {
    const settings = readSettings(check, io);
    withMirror(settings, (mirror) => {
      const report = checkMirror(mirror, kinds);
      if (settings.json) io.out(toJsonLine(report));
      else printText(io, formatCheckReport(report, mirror.file, settings.account?.name ?? null));
      if (report.problems.length > 0) io.setExitCode(exitCodes.damaged);
    });
  });
  const rebuild = command
    .command("rebuild")
    .description("compute every row, link and list again from the stored bodies, offline");
  addHelp(rebuild, {
    details: [
      "With --service-name it changes the prefix of the service's own fields, acme for acme_url. No request is needed.",
    ],
    examples: [
      "armoire mirror rebuild",
      "armoire mirror rebuild --mirror copy.sqlite",
      "armoire mirror rebuild --service-name acme",
    ],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
  rebuild.action(async () => {
    const settings = readSettings(rebuild, io);
    const report = await rebuildMirror({
      file: mirrorFileToRead(settings),
      kinds,
      openedAt: new Date().toISOString(),
      ...givenServiceName(settings),
    });
    if (settings.json) io.out(toJsonLine(report));
    else printText(io, `Rebuilt from ${report.resources} bodies; ${report.discovered} new resources.\n`);
  });
  const compact = addRetentionFlags(
    command.command("compact").description("make the file smaller, and prune old runs with --keep options"),
  ).option("--dry-run", "print the runs to keep and to prune; write nothing");
  addHelp(compact, {
    details: [
      "Compresses all bodies better than a sync does, and returns unused space. Without a --keep option the contents stay " +
        "the same, history included. Reading continues meanwhile; writing is locked. It needs free disk space of twice the " +
        "new size, half of it in the folder of temporary files (SQLITE_TMPDIR or TMPDIR). It can be stopped at any time " +
        "without loss. While another process reads the mirror, the file keeps its old size until the next sync or compact.",
      "A run is kept if at least one --keep option selects it. The latest run is always kept, as is the last one whose " +
        "changes `sync --on-change` passed on, and without a --keep option all are. Days, weeks, months and years are in UTC, by the end of a run. Data that only pruned runs contain is " +
        "removed for good. Kept runs, current values and tombstones do not change. `armoire runs` still lists pruned runs.",
    ],
    examples: [
      "armoire mirror compact",
      "armoire mirror compact --mirror copy.sqlite --json",
      "armoire mirror compact --keep-daily 30 --keep-monthly 24 --dry-run",
      "armoire mirror compact --keep-last 10 --keep-weekly 52 --keep-yearly 100",
    ],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
  compact.action(async ({ dryRun, ...options }: RetentionFlags & { readonly dryRun?: boolean }) => {
    const settings = readSettings(compact, io);
    const keep = readRetentionFlags(options);
    if (dryRun) return preview(settings, keep);
    const display = progressDisplay(io, performance.now.bind(performance), formatCompacting);
    const report = await compactMirror({
      file: mirrorFileToRead(settings),
      kinds,
      openedAt: new Date().toISOString(),
      ...(keep && { keep }),
      onProgress: settings.quiet ? () => {} : (progress) => display.update(() => progress),
    }).finally(display.end);
    if (settings.json) io.out(toJsonLine(report));
    else printText(io, formatCompactReport(report));
  });

  function preview(settings: Settings, keep: RetentionPolicy | undefined): void {
    if (keep === undefined) {
      throw new CliError(
        "usage",
        "Without a --keep option nothing is pruned, so there is nothing to preview.",
        "Add rules such as --keep-daily 30 --keep-monthly 24.",
      );
    }
    const mirror = mirrorFileToRead(settings);
    const retention = previewRetention({ file: mirror, keep });
    if (settings.json) io.out(toJsonLine({ mirror, dryRun: true, retention }));
    else printText(io, formatRetention(retention, true));
  }
}
