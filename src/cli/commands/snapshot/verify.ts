/** `armoire snapshot verify|show`: checks every byte of a snapshot, and shows what is in it. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { type SnapshotReport, verifySnapshot } from "../../../archive/snapshot/open.ts";
import { keyOption, rootHashOption } from "../../flags/option-values.ts";
import { formatShownSnapshot, formatVerifiedSnapshot } from "../../format/operations/snapshot.ts";
import { readSettings } from "../../settings/settings.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfVerifying } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

interface SnapshotFlags {
  readonly rootHash?: string;
  readonly key?: string;
}

export function configureVerify(snapshot: Command, io: Io): void {
  const verify = snapshot
    .command("verify")
    .description("check every byte of a snapshot")
    .argument("<file>", "the snapshot")
    .addOption(rootHashOption())
    .addOption(keyOption())
    .action((file: string, flags: SnapshotFlags, verify: Command) =>
      readOne(file, flags, verify, io, formatVerifiedSnapshot),
    );
  addHelp(verify, {
    details: [
      "Finds damaged, missing, added, swapped and repeated entries (exit code 15). Without --root-hash it finds damage, but no " +
        "forgery: anyone can make a file with matching checksums. If --root-hash matches, it is exactly the snapshot with that root hash.",
      "With --key the file must have been signed with that key. The signature is in a file beside it, whose name ends in .zip.sig.",
    ],
    examples: [
      "armoire snapshot verify catalogue.zip",
      `armoire snapshot verify catalogue.zip --root-hash ${"6f1ed002ab5595859014ebf0951522d9".repeat(2)}`,
    ],
    exitCodes: exitCodesOfVerifying,
  });
}

export function configureShow(snapshot: Command, io: Io): void {
  const show = snapshot
    .command("show")
    .description("show the origin, date, licence, coverage and freshness of a snapshot")
    .argument("<file>", "the snapshot")
    .addOption(rootHashOption())
    .addOption(keyOption())
    .action((file: string, flags: SnapshotFlags, show: Command) =>
      readOne(file, flags, show, io, formatShownSnapshot),
    );
  addHelp(show, {
    details: ["The whole file is verified first; a damaged one gives exit code 15."],
    examples: ["armoire snapshot show catalogue.zip", "armoire snapshot show catalogue.zip --json"],
    exitCodes: exitCodesOfVerifying,
  });
}

async function readOne(
  file: string,
  { rootHash, key }: SnapshotFlags,
  command: Command,
  io: Io,
  format: (report: SnapshotReport, expected: { rootHash?: string; key?: string }) => string,
): Promise<void> {
  const settings = readSettings(command, io);
  const expected = { ...(rootHash !== undefined && { rootHash }), ...(key !== undefined && { key }) };
  const report = await verifySnapshot({ file: resolve(file), ...expected });
  if (report.problems.length > 0) io.setExitCode(exitCodes.rejected);
  if (settings.json) io.out(toJsonLine(report));
  else if (!settings.quiet || report.problems.length > 0) printText(io, format(report, expected));
}
