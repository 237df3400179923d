/** `armoire status`: coverage, freshness, allowance, forecast and problems of a mirror. */
import type { Command } from "commander";
import { readNewestBackup } from "../../../accounts/newest-backup.ts";
import { readPastStatus, readStatus } from "../../../query/status/status.ts";
import { type AsOfFlags, asOfOption, readAsOf } from "../../flags/as-of.ts";
import { formatPastStatus, formatStatus } from "../../format/mirror/status.ts";
import { readOutlook, readOwed } from "../../read-plan.ts";
import { withMirror } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

export function configure(command: Command, io: Io): void {
  command.addOption(asOfOption());
  addHelp(command, {
    details: [
      "Prints, for each kind, how many resources are known, held, due, failed and gone, and the age of their last checks: " +
        "the median, the 90th percentile (90 % of the resources were checked more recently), and the oldest. Then come the allowance, the forecast, failed resources, partial lists, and unexpected " +
        "values in the service's responses, each with an example. The text shows 20 entries of a list, --json all. It sends " +
        "nothing.",
      "With --account, it prints the user, the bras and measurements, the oldest check, the newest backup made on this " +
        "machine, and the permissions that the token lacks; --json has the kinds as well. With " +
        "--as-of, ages, failures and unexpected values are left out: they are not recorded for the past.",
    ],
    examples: [
      "armoire status",
      "armoire status --json --mirror copy.sqlite",
      "armoire status --as-of -1m",
      "armoire status --account ada",
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action((flags: AsOfFlags) => {
    const settings = readSettings(command, io);
    const asOf = readAsOf(flags, settings, io);
    if (asOf !== undefined) {
      const past = withMirror(settings, readPastStatus, asOf);
      if (settings.json) io.out(toJsonLine(past));
      else printText(io, formatPastStatus(past));
      return;
    }
    const held = withMirror(settings, readStatus);
    const { mirror: file, baseUrl, area } = held;
    const { allowance, forecast } = readOutlook({ file, baseUrl, area }, settings, io);
    const owedChecks = readOwed({ file, baseUrl, area }, settings, io);
    const { account } = settings;
    const newestBackup = account && { newestBackup: readNewestBackup(account) };
    const status = { ...held, ...newestBackup, allowance, forecast, owedChecks };
    if (settings.json) io.out(toJsonLine(status));
    else printText(io, formatStatus(status, Date.now(), account?.name ?? null, io.screen));
  });
}
