/** `armoire snapshot load`: loads snapshots into a new or an existing mirror of the same service. */
import type { Command } from "commander";
import { defaultSampleSize } from "../../../mirror/snapshots/sample.ts";
import { collectRootHashes, keyOption, wholeNumber } from "../../flags/option-values.ts";
import { formatLoaded } from "../../format/mirror/loaded.ts";
import { readSettings } from "../../settings/settings.ts";
import { loadGiven } from "../../snapshots/load-given.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";

interface LoadFlags {
  readonly rootHash: readonly string[];
  readonly key?: string;
  readonly sample: number;
  readonly withHistory?: boolean;
  readonly allowPrivate?: boolean;
}

export function configureLoad(snapshot: Command, io: Io): void {
  const load = snapshot
    .command("load")
    .description("load snapshots into a new or an existing mirror, without a request to the service")
    .argument(
      "<file...>",
      "files or published folders, or their addresses; of each resource, the newest body counts",
    )
    .option(
      "--root-hash <hash>",
      "the expected root hash: 64 hexadecimal digits (with several files, once for each)",
      collectRootHashes,
      [],
    )
    .addOption(keyOption())
    .option(
      "--sample <n>",
      "have the next syncs fetch N resources of each snapshot whole, and compare",
      wholeNumber,
      defaultSampleSize,
    )
    .option("--with-history", "load each snapshot in a run of its own, so that --as-of shows each")
    .option("--allow-private", "download also from a private network")
    .action((files: readonly string[], flags: LoadFlags, load: Command) => loadAll(files, flags, load, io));
  addHelp(load, {
    details: [
      "Each file is verified whole before anything is loaded. A file that is damaged, of another service, an account's backup " +
        "or of a newer format is refused (exit code 15), and nothing changes. Without --mirror, the mirror is that of the " +
        "snapshot's service. What the mirror itself fetched on the same day or later stays.",
      "What was loaded can be used at once. It is unconfirmed: the column confirmed is empty. Syncs confirm it by conditional " +
        "requests, which are free with most services. Before, they fetch the sample whole, for counted requests. If the service " +
        "sends another body under the same ETag, the sync ends with exit code 15, and all of the snapshot that the service " +
        "has not sent itself is removed.",
      "Of a folder of `armoire snapshot publish`, or its address, state.json says what is in it: the last whole snapshot and its " +
        "increments are loaded, as far as this mirror has not loaded them. If nothing is new, the command says so, with exit " +
        "code 0. A folder that is older than what was loaded from it, continues something else, or is signed with another key is " +
        "refused (exit code 15).",
      "With --with-history, all snapshots of a folder are loaded in their order, each in a run of its own: in a mirror without later " +
        "runs with the snapshot's day, so that --as-of DAY shows what was published then. It takes longer. What comes before an " +
        "already loaded snapshot is not added.",
      "An interrupted load is continued by the same command, and so is a download. A snapshot removes nothing: only a sync " +
        "finds that something is gone.",
    ],
    examples: [
      "armoire snapshot load catalogue-2026-11-03.zip",
      "armoire snapshot load brands.zip models.zip --mirror copy.sqlite",
      `armoire snapshot load catalogue.zip --root-hash ${"6f1ed002ab5595859014ebf0951522d9".repeat(2)}`,
      "armoire snapshot load https://example.org/catalogue.zip",
      "armoire snapshot load https://example.org/public/",
      "armoire snapshot load https://example.org/public/ --with-history",
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "locked", "interrupted", "terminated"],
  });
}

async function loadAll(places: readonly string[], flags: LoadFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { rootHash: rootHashes, key, sample, withHistory = false, allowPrivate = false } = flags;
  if (settings.account !== null)
    throw new CliError("usage", "A snapshot is of a catalogue, not of an account.", "Leave --account out.");
  if (rootHashes.length > 0 && rootHashes.length !== places.length) {
    const hint = "Give --root-hash once for each file, in the order of the files.";
    throw new CliError(
      "usage",
      `There are ${places.length} files and ${rootHashes.length} root hashes.`,
      hint,
    );
  }
  const signal = interruptSignal(io, "what was loaded is kept, and the same command continues");
  const given = {
    places,
    rootHashes,
    ...(key !== undefined && { key }),
    sampleSize: sample,
    withHistory,
    allowPrivate,
    signal,
  };
  const report = await loadGiven(given, settings, io);
  if (settings.json) io.out(toJsonLine(report));
  else if (!settings.quiet) printText(io, formatLoaded(report));
}
