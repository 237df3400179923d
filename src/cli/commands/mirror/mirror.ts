/** `armoire mirror check|rebuild|compact`: soundness of a file, its projections computed anew, its size. */
import type { Command } from "commander";
import { kinds } from "../../../../jobs/kinds.ts";
import { type CheckReport, checkMirror } from "../../../mirror/check/check.ts";
import { compactMirror, previewRetention } from "../../../mirror/compact.ts";
import type { RetentionPolicy } from "../../../mirror/runs/retention.ts";
import { rebuildMirror } from "../../../mirror/writer.ts";
import { addRetentionFlags, type RetentionFlags, readRetentionFlags } from "../../flags/retention-flags.ts";
import { formatCompacting, formatCompactReport, formatRetention } from "../../format/mirror.ts";
import { addGlobalOptions } from "../../settings/global-options.ts";
import { mirrorFileToRead, withMirror } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import type { Io } from "../../terminal/io.ts";
import { progressDisplay } from "../../terminal/progress-display.ts";

export function configure(command: Command, io: Io): void {
  command.addHelpText(
    "after",
    `
Examples:
  armoire mirror check
  armoire mirror rebuild --mirror copy.sqlite
  armoire mirror compact
  armoire mirror compact --keep-daily 30 --keep-monthly 24 --dry-run

Exit codes: 0 sound or done, 1 failed, 11 the mirror is locked, 14 damaged.`,
  );
  const check = addGlobalOptions(command.command("check").exitOverride()).description(
    "prove the file, every body and every row; write nothing",
  );
  check.addHelpText("after", checkHelp).action(() => {
    const settings = readSettings(check, io);
    withMirror(settings, (mirror) => {
      const report = checkMirror(mirror, kinds);
      io.out(settings.json ? `${JSON.stringify(report)}\n` : describe(report, mirror.file, settings));
      if (report.problems.length > 0) io.setExitCode(exitCodes.damaged);
    });
  });
  const rebuild = addGlobalOptions(command.command("rebuild").exitOverride()).description(
    "compute every row, link and item anew from the bodies, without a request",
  );
  rebuild.addHelpText("after", rebuildHelp).action(async () => {
    const settings = readSettings(rebuild, io);
    const report = await rebuildMirror({
      file: mirrorFileToRead(settings),
      kinds,
      openedAt: new Date().toISOString(),
    });
    if (settings.json) io.out(`${JSON.stringify(report)}\n`);
    else io.out(`Rebuilt from ${report.resources} bodies; ${report.discovered} resources are newly known.\n`);
  });
  const compact = addGlobalOptions(
    addRetentionFlags(command.command("compact").exitOverride()).option(
      "--dry-run",
      "only say which runs the --keep options keep, and what would be forgotten",
    ),
  ).description("compress every body as well as can be, give unused space back, and forget old runs if told");
  compact
    .addHelpText("after", compactHelp)
    .action(async ({ dryRun, ...options }: RetentionFlags & { readonly dryRun?: boolean }) => {
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
      io.out(settings.json ? `${JSON.stringify(report)}\n` : formatCompactReport(report));
    });

  function preview(settings: Settings, keep: RetentionPolicy | undefined): void {
    if (keep === undefined) {
      throw new CliError(
        "usage",
        "--dry-run shows what would be forgotten, and without a --keep option nothing is.",
        "Say what to keep, such as --keep-daily 30 --keep-monthly 24.",
      );
    }
    const mirror = mirrorFileToRead(settings);
    const retention = previewRetention({ file: mirror, keep });
    io.out(
      settings.json
        ? `${JSON.stringify({ mirror, dryRun: true, retention })}\n`
        : formatRetention(retention, true),
    );
  }
}

const checkHelp = `
Examples:
  armoire mirror check
  armoire mirror check --account ada --json

Exit code 14 says that something is damaged.`;

const rebuildHelp = `
Examples:
  armoire mirror rebuild
  armoire mirror rebuild --mirror copy.sqlite`;

const compactHelp = `
Examples:
  armoire mirror compact
  armoire mirror compact --mirror copy.sqlite --json
  armoire mirror compact --keep-daily 30 --keep-monthly 24 --dry-run
  armoire mirror compact --keep-last 10 --keep-weekly 52 --keep-yearly 100

A run is kept if any --keep option keeps it, and the latest one always; without such an option all are. Days, weeks, months and
years are those of UTC, by when runs ended. A run that is forgotten can be shown no more, and what only it had seen is removed for good.

It needs free space for twice the mirror's new size. It may be stopped at any time: nothing is lost, and the next one goes on.`;

function describe(
  { bodies, resources, pictures, problems }: CheckReport,
  file: string,
  { account }: Settings,
): string {
  if (problems.length === 0) {
    const shown = pictures === 0 ? "" : `, ${pictures} ${pictures === 1 ? "picture" : "pictures"}`;
    return `Sound: ${bodies} bodies and the rows of ${resources} resources${shown} in ${file}\n`;
  }
  const lines = problems.map(
    ({ code, where, what }) => `${code === where ? code : `${code}: ${where}`}: ${what}\n`,
  );
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const sum = `${lines.join("")}${count} in ${file}.`;
  if (problems.every(({ code }) => code === "media")) {
    const command = `armoire sync --account ${account?.name ?? "NAME"} --media`;
    return `${sum} \`${command}\` downloads what is missing; take away first what was changed.\n`;
  }
  return `${sum} Restore a copy; \`armoire mirror rebuild\` mends rows, not bodies.\n`;
}
