/** `armoire backup`, alone or with create, verify, restore, list or prune: archives of an account that can be trusted. */
import { basename, resolve } from "node:path";
import type { Command } from "commander";
import { kinds } from "../../../../jobs/kinds.ts";
import type { Account } from "../../../accounts/account.ts";
import { createBackup, verifyWritten } from "../../../archive/create.ts";
import { requirePlace } from "../../../archive/destination.ts";
import { type BackupOwner, type ListedBackup, listBackups } from "../../../archive/list.ts";
import { pruneBackups } from "../../../archive/prune.ts";
import { restoreBackup, unpackBackup } from "../../../archive/restore.ts";
import { verifyBackup } from "../../../archive/verify.ts";
import { userOf } from "../../../mirror/account/user.ts";
import { addAccountFlags } from "../../flags/account-flags.ts";
import { addRetentionFlags, type RetentionFlags, readRetentionFlags } from "../../flags/retention-flags.ts";
import {
  formatCreated,
  formatList,
  formatPruned,
  formatRestored,
  formatVerified,
} from "../../format/backup.ts";
import {
  addEncryptOptions,
  addPassphraseOption,
  type EncryptFlags,
  type PassphraseFlags,
  passphraseAsker,
  readKnownPassphrase,
  readNewPassphrase,
} from "../../secrets/passphrase.ts";
import { addGlobalOptions } from "../../settings/global-options.ts";
import { catalogueFileBeside, mirrorFileToRead } from "../../settings/mirror-file.ts";
import { readSettings } from "../../settings/settings.ts";
import type { SyncAndBackupFlags } from "../../sync-and-backup.ts";
import { CliError, describeError, exitCodeOf, exitCodes } from "../../terminal/exit-codes.ts";
import { type Io, interruptSignal } from "../../terminal/io.ts";

interface CreateFlags extends EncryptFlags {
  readonly to: string;
  readonly replace?: boolean;
}

interface VerifyFlags extends PassphraseFlags {
  readonly rootHash?: string;
}

interface RestoreFlags extends VerifyFlags {
  readonly to?: string;
}

interface PruneFlags extends RetentionFlags, PassphraseFlags {
  readonly dryRun?: boolean;
}

export function configure(command: Command, io: Io): void {
  command.addHelpText("after", help);
  const subcommand = (name: keyof typeof examples, description: string, isDefault = false) =>
    addGlobalOptions(command.command(name, { isDefault }).exitOverride())
      .description(description)
      .addHelpText("after", `\nExamples:\n${examples[name].map((example) => `  ${example}\n`).join("")}`);

  addRetentionFlags(
    addEncryptOptions(
      addAccountFlags(
        subcommand("run", "sync, create, verify and prune; `armoire backup` alone does the same", true),
      ),
    ),
    "backup",
  )
    .requiredOption("--to <dir>", "the folder for backups")
    .action(async (flags: SyncAndBackupFlags, run: Command) => {
      // The others are offline, and do without all that talks to the service.
      const { syncAndBackUp: backUpInOneGo } = await import("../../sync-and-backup.ts");
      await backUpInOneGo(flags, readSettings(run, io), io);
    });
  addEncryptOptions(subcommand("create", "one archive of what is mirrored, without a request"))
    .requiredOption("--to <place>", "a folder, or a file that ends in .zip (.zip.age with --encrypt)")
    .option("--replace", "put it in the place of another file")
    .action((flags: CreateFlags, create: Command) => createOne(flags, create, io));
  addPassphraseOption(subcommand("verify", "find whatever is not as it was written; write nothing"))
    .argument("<file>", "the backup")
    .option("--root-hash <hash>", "that it must have, as `backup create` showed it", rootHash)
    .action((file: string, flags: VerifyFlags, verify: Command) => verifyOne(file, flags, verify, io));
  addPassphraseOption(
    subcommand(
      "restore",
      "a new mirror (--account, --mirror) or its files (--to), verified before anything is written",
    ),
  )
    .argument("<file>", "the backup")
    .option("--to <dir>", "a new folder for the files that are in it, instead of a mirror")
    .option("--root-hash <hash>", "that it must have", rootHash)
    .action((file: string, flags: RestoreFlags, restore: Command) => restoreOne(file, flags, restore, io));
  addPassphraseOption(subcommand("list", "the backups in a folder, and what changed from one to the next"))
    .argument("<dir>", "the folder")
    .action((folder: string, flags: PassphraseFlags, list: Command) => listAll(folder, flags, list, io));
  addPassphraseOption(
    addRetentionFlags(subcommand("prune", "remove old backups, by rules of what to keep"), "backup"),
  )
    .argument("<dir>", "the folder")
    .option("--dry-run", "only say which would go, and why the others stay")
    .action((folder: string, flags: PruneFlags, prune: Command) => pruneAll(folder, flags, prune, io));
}

async function createOne(flags: CreateFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const mirror = mirrorFileToRead(settings);
  const { to, replace = false } = flags;
  await requirePlace({ to, replace, isEncrypted: flags.encrypt === true });
  const encryption = await readNewPassphrase(flags, io);
  const created = await createBackup({
    mirror,
    account: settings.account?.name ?? null,
    to,
    replace,
    ...encryption,
    catalogue: catalogueFileBeside(settings),
    signal: interruptSignal(io, "nothing was written"),
  });
  await verifyWritten(created, encryption);
  const { catalogueError, ...told } = created;
  if (catalogueError !== null) {
    io.err(describeError(catalogueError, settings.verbose));
    io.setExitCode(exitCodeOf(catalogueError));
  }
  if (settings.json) io.out(`${JSON.stringify(told)}\n`);
  else if (!settings.quiet) io.out(formatCreated(created));
}

async function verifyOne(file: string, flags: VerifyFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { rootHash } = flags;
  const report = await verifyBackup({
    file: resolve(file),
    askPassphrase: passphraseAsker(flags, io),
    ...(rootHash !== undefined && { rootHash }),
  });
  if (report.problems.length > 0) io.setExitCode(exitCodes.damaged);
  if (settings.json) io.out(`${JSON.stringify(report)}\n`);
  else if (!settings.quiet || report.problems.length > 0)
    io.out(formatVerified(report, rootHash !== undefined));
}

async function restoreOne(file: string, flags: RestoreFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { to, rootHash } = flags;
  const { account, mirror } = settings;
  const wanted = {
    file: resolve(file),
    askPassphrase: passphraseAsker(flags, io),
    ...(rootHash !== undefined && { rootHash }),
  };
  if ((to === undefined) === (mirror.value === null)) {
    const hint = "Give one of --account NAME, --mirror FILE (a new mirror) and --to DIR (the files in it).";
    throw new CliError("usage", "It must be said where to restore to, and only once.", hint);
  }
  if (to !== undefined) {
    const { manifest, rootHash } = await unpackBackup({ ...wanted, folder: to });
    if (settings.json) io.out(`${JSON.stringify({ folder: resolve(to), manifest, rootHash })}\n`);
    else if (!settings.quiet)
      io.out(`The files of the backup are in ${resolve(to)}; README.txt says what they are.\n`);
    return;
  }
  const restored = await restoreBackup({
    ...wanted,
    mirror: mirror.value ?? "",
    kinds,
    openedAt: new Date().toISOString(),
    ...(account !== null && {
      of: { baseUrl: account.baseUrl, user: userOf(account) },
    }),
  });
  if (restored.check.problems.length > 0) io.setExitCode(exitCodes.damaged);
  if (settings.json) io.out(`${JSON.stringify(restored)}\n`);
  else if (!settings.quiet) io.out(formatRestored(restored));
}

async function listAll(folder: string, flags: PassphraseFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { account } = settings;
  const backups: ListedBackup[] = [];
  const wanted = { folder, ...readKnownPassphrase(flags, io), ...(account && { of: ownerOf(account) }) };
  for await (const backup of listBackups(wanted)) backups.push(backup);
  if (backups.some((backup) => !backup.isSound && backup.code === "damaged"))
    io.setExitCode(exitCodes.damaged);
  io.out(settings.json ? `${JSON.stringify(backups)}\n` : formatList(backups, basename));
}

async function pruneAll(folder: string, flags: PruneFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const { account } = settings;
  const keep = readRetentionFlags(flags);
  if (keep === undefined) {
    const hint =
      "Say what to keep, such as --keep-daily 30 --keep-monthly 24; --dry-run shows what would go.";
    throw new CliError("usage", "Without a --keep option nothing is removed.", hint);
  }
  const report = await pruneBackups({
    folder: resolve(folder),
    keep,
    isPreview: flags.dryRun === true,
    signal: interruptSignal(io, "nothing was removed"),
    ...readKnownPassphrase(flags, io),
    ...(account && { of: ownerOf(account) }),
  });
  if (settings.json) io.out(`${JSON.stringify(report)}\n`);
  else if (!settings.quiet || report.isPreview) io.out(formatPruned(report, basename));
}

function ownerOf(account: Account): BackupOwner {
  const { name, baseUrl, serviceName } = account;
  const service = { baseUrl, name: serviceName };
  return { service, area: "account", account: name, user: userOf(account) };
}

function rootHash(value: string): string {
  if (/^[0-9a-f]{64}$/i.test(value)) return value.toLowerCase();
  // Not as commander tells it, which quotes the value: that may be a secret, and is shown as one.
  throw new CliError(
    "usage",
    `A root hash is 64 hexadecimal digits; what --root-hash has is ${value.length} characters.`,
    "Copy the one that `armoire backup` showed, as a whole.",
  );
}

const examples = {
  run: [
    "armoire backup --account ada --to /media/stick",
    "armoire backup --account ada --to backups --keep-daily 30 --keep-monthly 24 --quiet",
  ],
  create: [
    "armoire backup create --account ada --to ada.zip.age --encrypt",
    "armoire backup create --account ada --to backups",
  ],
  verify: [
    "armoire backup verify ada.zip",
    "armoire backup verify ada.zip.age --passphrase-file ada.passphrase",
  ],
  restore: [
    "armoire backup restore ada.zip --mirror ada.sqlite",
    "armoire backup restore ada.zip --to ada-files",
  ],
  list: ["armoire backup list backups", "armoire backup list backups --account ada --json"],
  prune: [
    "armoire backup prune backups --keep-daily 30 --keep-yearly 100 --dry-run",
    "armoire backup prune backups --account ada --keep-monthly 24",
  ],
} as const;

const help = `
Examples:
${[
  ...examples.run,
  ...Object.values(examples)
    .slice(1)
    .map(([first]) => first),
]
  .map((example) => `  ${example}\n`)
  .join("")}

The same state gives the same bytes; with --encrypt, the same root hash. The passphrase comes from --passphrase-file, ARMOIRE_BACKUP_PASSPHRASE or
a prompt. Without a remembered root hash, a backup shows damage, and no forgery; encrypted, that its maker had the passphrase.

Exit codes: 0 done, 1 failed, 2 wrong usage, 4 no passphrase, a wrong one, or another account's backup, 11 the mirror is locked,
14 the backup or the mirror is damaged or of a later version; of \`armoire backup\` alone, also those of \`armoire sync\`.`;
