/**
 * Refuses command lines with a secret in an argument: other users of the machine can read them, and messages, exports and
 * archives would repeat it.
 */
import { resolve } from "node:path";
import { Command } from "commander";
import type { Account } from "../../accounts/account.ts";
import { readTokenMarks } from "../../accounts/account-file.ts";
import { listReadableAccounts } from "../../accounts/accounts.ts";
import { mayContainToken } from "../../accounts/tokens/token-marks.ts";
import { findTokens, readToken } from "../../accounts/tokens/tokens.ts";
import { readRegularFile } from "../../platform/files/regular-files.ts";
import { maxPrivateBytes } from "../../platform/private-files.ts";
import { encodingsOf, hideSecret, type SecretText } from "../../service/credentials/credential.ts";
import { minSpecificLength } from "../../service/credentials/secret-encodings.ts";
import { addGlobalOptions, type GlobalOptions } from "../settings/global-options.ts";
import { secretFileOptions } from "../settings/output-places.ts";
import { readSettings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { keychainOf } from "./credentials.ts";
import { passwordsOf } from "./redis-address.ts";

/**
 * Known are the secrets of the environment, those of files that options name, and the accounts' tokens.
 * @throws CliError, which does not quote the argument
 */
export async function refuseSecretArguments(
  args: readonly string[],
  command: Command,
  io: Io,
): Promise<void> {
  const texts = args.map((arg) => Buffer.from(arg));
  const contain = (secret: SecretText) =>
    encodingsOf(secret).some(({ bytes }) => texts.some((text) => text.includes(bytes)));
  /** A token in the keychain is only read if an argument seems to contain it: the keychain may have to be unlocked. */
  const containTokenOf = async (account: Account): Promise<boolean> => {
    const isInKeychain = account.tokenIn === "keychain";
    const marks = isInKeychain ? await readOrNull(() => readTokenMarks(account)) : null;
    if (isInKeychain && !(marks && texts.some((text) => mayContainToken(marks, text)))) return false;
    const token = await readOrNull(() => readToken(account, keychainOf(io)));
    return token === null ? isInKeychain : contain(token);
  };
  let isGiven = findSecrets(command, io).some(contain);
  for (const folder of await findDataDirs(command, io)) {
    isGiven ||= findTokens(folder).some(contain);
    const accounts = (await readOrNull(() => listReadableAccounts(folder))) ?? [];
    for (const account of accounts) isGiven ||= await containTokenOf(account);
  }
  if (!isGiven) return;
  const hint = "Others may have read the command line: get a new one.";
  throw new CliError("usage", "An argument contains a secret, so it is not shown here.", hint);
}

const variables = [
  "ARMOIRE_TOKEN",
  "ARMOIRE_APP_SECRET",
  "ARMOIRE_BACKUP_PASSPHRASE",
  "ARMOIRE_REDIS_PASSWORD",
] as const;

function findSecrets(command: Command, { env }: Io): SecretText[] {
  const textOf = (name: string) => env[name] || readText(env[`${name}_FILE`]);
  const texts = [
    ...variables.map(textOf),
    ...passwordsOf(textOf("ARMOIRE_REDIS_URL").trim()),
    // The file of principals has a name and a token in each line.
    ...secretFileOptions.flatMap((name) => {
      const text = readText(command.getOptionValue(name));
      return name === "principals"
        ? text.split("\n").map((line) => line.trim().replace(/^\S+\s/, ""))
        : [text];
    }),
  ];
  const trimmed = texts.map((text) => text.trim());
  // A shorter text may occur by chance.
  return trimmed.filter((text) => text.length >= minSpecificLength).map(hideSecret);
}

/** Also of a file that commands would refuse, such as one that others can read. @returns "" if it cannot be read */
function readText(file: unknown): string {
  try {
    return typeof file === "string" ? readRegularFile(file, maxPrivateBytes).toString() : "";
  } catch {
    return "";
  }
}

async function findDataDirs(command: Command, io: Io): Promise<ReadonlySet<string>> {
  // The secret may be the value of an option that names the data directory or the settings.
  const { config, dataDir } = command.optsWithGlobals<GlobalOptions>();
  const isNamed = config !== undefined || dataDir !== undefined;
  const folders = new Set<string>();
  for (const options of isNamed ? [command, addGlobalOptions(new Command())] : [command]) {
    const settings = await readOrNull(() => readSettings(options, io));
    if (settings === null) continue;
    folders.add(settings.dataDir.value);
    // That of an account's mirror, at its own path.
    if (settings.mirror.value !== null) folders.add(resolve(settings.mirror.value, "../../.."));
  }
  return folders;
}

/** What cannot be read is reported by the commands that need it. */
async function readOrNull<Value>(read: () => Value | Promise<Value>): Promise<Value | null> {
  try {
    return await read();
  } catch {
    return null;
  }
}
