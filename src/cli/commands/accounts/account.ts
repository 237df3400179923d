/** `armoire account add|list|remove`: whose data to mirror. */
import { type Command, Option } from "commander";
import { accountPlace, requireNewAccountName } from "../../../accounts/account.ts";
import {
  findReadableAccount,
  listAccountNames,
  listLeftFolders,
  readAccount,
  requireAccountOrLeft,
} from "../../../accounts/accounts.ts";
import { type AccountOverview, readOverview } from "../../../accounts/overview.ts";
import { removeAccount } from "../../../accounts/remove-account.ts";
import { ServiceError } from "../../../service/errors.ts";
import { formatAccounts, formatAdded, formatRemoved } from "../../format/accounts.ts";
import { keychainOf, readGivenToken, type TokenFlags } from "../../secrets/credentials.ts";
import { addGlobalOptions } from "../../settings/global-options.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError, describeError, exitCodeOf, exitCodes } from "../../terminal/exit-codes.ts";
import { type Io, interruptSignal } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/text-table.ts";

interface RemoveFlags {
  readonly purge?: boolean;
  readonly yes?: boolean;
}

export function configure(command: Command, io: Io): void {
  command.addHelpText(
    "after",
    `
Examples:
  armoire account add ada --base-url https://api.example.org/
  armoire account list
  armoire account remove ada

Exit codes: 0 done, 1 failed, 2 wrong usage or no such account, 4 the token is not accepted or others could read it,
11 a sync or another such command is at work, 14 an account's file is damaged or of a later version, 130/143 interrupted.`,
  );
  addGlobalOptions(command.command("add").exitOverride())
    .description("keep a user's token, once the service has said whose it is")
    .argument("<name>", "what to call her here: a-z, 0-9, _ and -")
    .addOption(new Option("--token-stdin", "read the token from standard input").conflicts("tokenFile"))
    .option("--token-file <file>", "read it from a file that only you may read")
    .addHelpText("after", addHelp)
    .action((name: string, flags: TokenFlags, add: Command) => addOne(name, flags, add, io));
  addGlobalOptions(command.command("list").exitOverride())
    .description("the accounts, what their tokens may see, and what is mirrored of them")
    .addHelpText("after", listHelp)
    .action((_flags: object, list: Command) => listAll(list, io));
  addGlobalOptions(command.command("remove").exitOverride())
    .description("forget an account and its token; its data stays unless told otherwise")
    .argument("<name>", "the account")
    .option("--purge", "erase its data too")
    .option("--yes", "do not ask")
    .addHelpText("after", removeHelp)
    .action((name: string, flags: RemoveFlags, remove: Command) => removeOne(name, flags, remove, io));
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
      `Say what service the token is of: \`armoire account add ${name} --base-url URL\`, or ARMOIRE_BASE_URL.`,
    );
  }
  const token = await readGivenToken(flags, name, io);
  const { value: serviceName, from } = settings.serviceName;
  const signal = interruptSignal(io, "nothing was kept");
  // Only this one of the three talks to the service, and loading what does takes as long as all else.
  const { addAccount } = await import("../../../sync/add-account.ts");
  const added = await addAccount({
    dataDir,
    name,
    baseUrl,
    token,
    keychain: keychainOf(io),
    signal,
    // What the account was made with beats a default.
    ...(serviceName !== null && from !== "default" && { serviceName }),
  }).catch((error: unknown) => {
    throw error instanceof ServiceError ? explainOutage(error) : error;
  });
  const { account, ...rest } = added;
  if (settings.json) io.out(`${JSON.stringify({ ...account, ...rest })}\n`);
  else if (!settings.quiet) io.out(formatAdded(added));
}

/** Asks the person at the terminal before an account goes. @throws CliError where she does not agree, or nobody can be asked */
async function confirmRemoval(dataDir: string, name: string, purge: boolean, io: Io): Promise<void> {
  if (io.ask === null) {
    throw new CliError(
      "usage",
      `There is nobody to ask whether the account ${name} is to be removed; it was not.`,
      `\`armoire account remove ${name}${purge ? " --purge" : ""} --yes\` removes it without asking.`,
    );
  }
  const { folder } = accountPlace(dataDir, name);
  const text = purge
    ? `This removes the account ${name} and erases its data in ${folder}, which nothing brings back.\nType its name to go on: `
    : `This removes the account ${name} and its token; its data stays in ${folder}.\nGo on? (y, or its name) `;
  const answer = (await io.ask({ text, isSecret: false }))?.trim().toLowerCase();
  if (answer === name || (!purge && (answer === "y" || answer === "yes"))) return;
  throw new CliError("failed", "Nothing was removed.");
}

/** What is said of the service elsewhere is about runs, which go on another time. */
function explainOutage(error: ServiceError): CliError {
  const hint =
    error.next === "stop-allowance"
      ? "Nothing was kept. Add the account when the allowance is renewed."
      : "Nothing was kept. Check the network and the base URL, then add the account again.";
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
      // What is wrong with one says nothing about the others.
      io.err(describeError(error, settings.verbose));
      failures.push(exitCodeOf(error));
    }
  }
  if (settings.json) io.out(`${JSON.stringify(overviews)}\n`);
  else if (overviews.length > 0 || names.length === 0) io.out(formatAccounts(overviews));
  // Of those that an account may have, the higher one goes before the lower.
  if (failures.length > 0) io.setExitCode(Math.max(...failures));
  if (settings.quiet) return;
  for (const { name, place } of listLeftFolders(dataDir)) {
    io.err(
      `Data without an account: ${escapeControls(place.folder)}; \`armoire account remove ${name} --purge\` erases it.\n`,
    );
  }
}

async function removeOne(name: string, flags: RemoveFlags, command: Command, io: Io): Promise<void> {
  const settings = readSettings(command, io);
  const dataDir = settings.dataDir.value;
  const purge = flags.purge === true;
  requireAccountOrLeft(dataDir, name);
  if (flags.yes !== true) await confirmRemoval(dataDir, name, purge, io);
  const startedAt = new Date().toISOString();
  const removed = await removeAccount({ dataDir, name, purge, keychain: keychainOf(io), startedAt });
  if (settings.json) io.out(`${JSON.stringify(removed)}\n`);
  else if (!settings.quiet) io.out(formatRemoved(removed));
  if (removed.tokenLeft === null) return;
  const { entry, why } = removed.tokenLeft;
  io.err(
    `The keychain may still have the token${entry === null ? "" : `, as armoire "${entry}"`}: ${escapeControls(why)}.\nHave the service revoke it.\n`,
  );
  io.setExitCode(exitCodes.failed);
}

const addHelp = `
Examples:
  armoire account add ada --base-url https://api.example.org/
  armoire account add ada --token-file ada.token
  pass show ada | armoire account add ada --token-stdin

Without these options the token is that of ARMOIRE_TOKEN or ARMOIRE_TOKEN_FILE, else it is asked for, and not shown. It is never an
argument: others could read it there. Two requests find out whose it is; where the service does not accept it, nothing is kept.

It is kept in the system's keychain, or, where there is none, in a file that only you may read. An account that is added again
gets the new token, if it is of the same user.`;

const listHelp = `
Examples:
  armoire account list
  armoire account list --json

It asks nobody: what a token may see is what the service showed when it was last asked.`;

const removeHelp = `
Examples:
  armoire account remove ada
  armoire account remove ada --purge --yes

The token goes, also from the keychain; whether the service still accepts it is for the service to say. --purge overwrites the data before it
goes, which on an SSD or a file system that writes changes to a new place promises little: what is gone from there only
an encrypted disk promises.`;
