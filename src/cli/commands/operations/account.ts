/** `armoire account add|list|remove`: the users whose data is mirrored. */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { accountPlace } from "../../../accounts/account.ts";
import { requireNewAccountName } from "../../../accounts/account-name.ts";
import {
  findReadableAccount,
  listAccountNames,
  listRemovedAccounts,
  readAccount,
  requireAccountOrFolder,
} from "../../../accounts/accounts.ts";
import { type AccountOverview, readOverview } from "../../../accounts/overview.ts";
import { removeAccount } from "../../../accounts/remove-account.ts";
import { listSchedules } from "../../../schedule/schedules.ts";
import { ServiceError } from "../../../service/errors.ts";
import {
  formatAccounts,
  formatAdded,
  formatHardLinked,
  formatRemoved,
} from "../../format/operations/accounts.ts";
import { keychainOf, readGivenToken, type TokenFlags } from "../../secrets/credentials.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError, describeError, exitCodeOf, exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, interruptSignal, printText } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

interface RemoveFlags {
  readonly purge?: boolean;
  readonly yes?: boolean;
}

export function configure(command: Command, io: Io): void {
  addHelp(command, {
    examples: [
      "armoire account add ada --base-url https://api.example.org/",
      "armoire account list",
      "armoire account remove ada",
    ],
    exitCodes: [...exitCodesOfReading, "locked", "interrupted", "terminated"],
  });
  const add = command
    .command("add")
    .description("check a user's token with the service and store it")
    .argument("<name>", "your name for the account: at most 32 of a-z, 0-9, _ and -")
    .addOption(new Option("--token-stdin", "read the token from standard input").conflicts("tokenFile"))
    .option("--token-file <file>", "read the token from a file that only you may read")
    .action((name: string, flags: TokenFlags, add: Command) => addOne(name, flags, add, io));
  addHelp(add, {
    details: [
      "Without an option the token is read from ARMOIRE_TOKEN or ARMOIRE_TOKEN_FILE, or from a prompt that does not show " +
        "it. It is never an argument, because other users can read those. Two requests find out whose token it is. Nothing " +
        "is stored if the service rejects it (exit code 4) or cannot be reached (exit code 1).",
      "The token goes into the system's keychain. Without a keychain it goes into the file accounts/NAME/token, which only " +
        "you may read; anyone who reads your files or their backups then has it. A folder that other users may write to " +
        "is refused; one above the data directory may have the sticky bit, as /tmp has.",
      "Add an account again to replace its token by another one of the same user. Each user has one account here. The name " +
        "catalogue is reserved.",
    ],
    examples: [
      "armoire account add ada --base-url https://api.example.org/",
      "armoire account add ada --token-file ada.token",
      "pass show ada | armoire account add ada --token-stdin",
    ],
    exitCodes: [...exitCodesOfReading, "locked", "interrupted", "terminated"],
  });
  const list = command
    .command("list")
    .description("list accounts, their tokens' permissions and their mirrored data")
    .action((_flags: object, list: Command) => listAll(list, io));
  addHelp(list, {
    details: [
      "It sends nothing: permissions are those of the last contact with the service. Data of removed accounts is reported on " +
        "stderr.",
    ],
    examples: ["armoire account list", "armoire account list --json"],
    exitCodes: exitCodesOfReading,
  });
  const remove = command
    .command("remove")
    .description("remove an account and its token, and with --purge its data")
    .argument("<name>", "the account")
    .option("--purge", "overwrite and delete its mirror, ledger and pictures")
    .option("--yes", "do not ask for confirmation")
    .action((name: string, flags: RemoveFlags, remove: Command) => removeOne(name, flags, remove, io));
  addHelp(remove, {
    details: [
      "Without --purge the data stays in accounts/NAME, and is used again when you add the account under the same name. " +
        "--purge does not delete the catalogue resources that --with-catalogue fetched. Overwritten data may survive on an " +
        "SSD, on a copy-on-write file system and in snapshots; only disk encryption protects it reliably. The token stays valid " +
        "until the service revokes it. An interrupted removal is finished by the next one.",
    ],
    examples: ["armoire account remove ada", "armoire account remove ada --purge --yes"],
    exitCodes: [...exitCodesOfReading, "locked"],
  });
}

async function addOne(name: string, flags: TokenFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const dataDir = settings.dataDir.value;
  requireNewAccountName(name);
  const earlier = findReadableAccount(dataDir, name);
  const baseUrl = settings.baseUrl.value ?? earlier?.baseUrl;
  if (baseUrl === undefined) {
    throw new CliError(
      "settings",
      "The service's base URL is not set.",
      `Name the service of the token: \`armoire account add ${name} --base-url URL\`, or ARMOIRE_BASE_URL.`,
    );
  }
  const token = await readGivenToken(flags, name, io);
  const { value: serviceName, from } = settings.serviceName;
  const signal = interruptSignal(io, "nothing was stored");
  // Loaded only here: the other subcommands are offline, and the HTTP client takes long to load.
  const { addAccount } = await import("../../../sync/add-account.ts");
  const added = await addAccount({
    dataDir,
    name,
    baseUrl,
    token,
    keychain: keychainOf(io),
    signal,
    // A default does not replace the name that the account was added with.
    ...(serviceName !== null && from !== "default" && { serviceName }),
  }).catch((error: unknown) => {
    throw error instanceof ServiceError ? explainOutage(error) : error;
  });
  const { account, ...rest } = added;
  if (settings.json) io.out(toJsonLine({ ...account, ...rest }));
  else if (!settings.quiet) printText(io, formatAdded(added));
  else if (added.whyNoKeychain !== null)
    io.err(`The token is in a file: ${escapeControls(account.tokenFile)}\n`);
}

/** Asks for confirmation at the terminal. @throws CliError if the user declines or there is no terminal */
async function confirmRemoval(dataDir: string, name: string, purge: boolean, io: Io): Promise<void> {
  if (io.ask === null) {
    throw new CliError(
      "usage",
      `The account ${name} was not removed: there is no terminal to confirm on.`,
      `\`armoire account remove ${name}${purge ? " --purge" : ""} --yes\` needs no confirmation.`,
    );
  }
  const { folder } = accountPlace(dataDir, name);
  const text = purge
    ? `This removes the account ${name} and erases its data in ${folder} for good.\nType the account's name to continue: `
    : `This removes the account ${name} and its token; its data stays in ${folder}.\nContinue? (y or the name) `;
  const answer = (await io.ask({ text, isSecret: false }))?.trim().toLowerCase();
  if (answer === name || (!purge && (answer === "y" || answer === "yes"))) return;
  throw new CliError("failed", "Nothing was removed: the removal was not confirmed.");
}

/** Replaces a hint about runs by one about adding an account. */
function explainOutage(error: ServiceError): CliError {
  const hint =
    error.next === "stop-allowance"
      ? "Nothing was stored. Add the account when the allowance is renewed."
      : "Nothing was stored. Check the network and the base URL, then add the account again.";
  return new CliError("failed", error.message, hint, { cause: error });
}

function listAll(command: Command, io: Io): void {
  const settings = readSettings(command, io);
  const dataDir = settings.dataDir.value;
  const overviews: AccountOverview[] = [];
  const failures: number[] = [];
  const names = listAccountNames(dataDir);
  for (const name of names) {
    try {
      overviews.push(readOverview(readAccount(dataDir, name)));
    } catch (error) {
      // An unreadable account does not hide the others.
      io.err(describeError(error, settings.verbose));
      failures.push(exitCodeOf(error));
    }
  }
  if (settings.json) io.out(toJsonLine(overviews));
  else if (overviews.length > 0 || names.length === 0) printText(io, formatAccounts(overviews, io.screen));
  // Of these codes, the higher one takes precedence.
  if (failures.length > 0) io.setExitCode(Math.max(...failures));
  if (settings.quiet) return;
  for (const { name, place } of listRemovedAccounts(dataDir)) {
    io.err(
      `Data without an account: ${escapeControls(place.folder)}; \`armoire account remove ${name} --purge\` erases it.\n`,
    );
  }
}

async function removeOne(name: string, flags: RemoveFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const dataDir = settings.dataDir.value;
  const purge = flags.purge === true;
  requireAccountOrFolder(dataDir, name);
  if (flags.yes !== true) await confirmRemoval(dataDir, name, purge, io);
  const startedAt = new Date().toISOString();
  const removed = await removeAccount({ dataDir, name, purge, keychain: keychainOf(io), startedAt });
  if (settings.json) io.out(toJsonLine(removed));
  else if (!settings.quiet) printText(io, formatRemoved(removed));
  io.err(formatHardLinked(removed));
  for (const schedule of schedulesOf(dataDir, name))
    io.err(
      `The schedule ${schedule} still uses this account; \`armoire schedule remove ${schedule}\` removes it.\n`,
    );
  if (removed.remainingToken === null) return;
  const { entry, why } = removed.remainingToken;
  io.err(
    `The keychain may still contain the token${entry === null ? "" : `, as armoire "${entry}"`}: ${escapeControls(why)}.\nRevoke the token at the service.\n`,
  );
  io.setExitCode(exitCodes.failed);
}

/** The names of the schedules that write the account's mirror. */
function schedulesOf(dataDir: string, account: string): readonly string[] {
  const { mirrorFile } = accountPlace(dataDir, account);
  try {
    return listSchedules(dataDir)
      .filter(({ mirror }) => resolve(mirror) === resolve(mirrorFile))
      .map(({ name }) => name);
  } catch {
    // A damaged file of schedules, which every command for schedules reports.
    return [];
  }
}
