/** What a request is made with: an account's token from where it is kept, the catalogue's credential from the environment or from files that it names. */

import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import type { Keychain } from "../../accounts/tokens/keychain.ts";
import { systemKeychain } from "../../accounts/tokens/system-keychain.ts";
import { readToken } from "../../accounts/tokens/tokens.ts";
import { readPrivateFile } from "../../platform/private-files.ts";
import { appCredential, bearerToken, type Credential } from "../../service/credentials/credential.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";

/** The token of the account that the command is about, else the catalogue's credential. @throws AccountError, CliError, ServiceSettingsError */
export async function readCredential({ account }: Settings, io: Io): Promise<Credential | null> {
  return account === null ? readAppCredential(io) : await readToken(account, keychainOf(io));
}

/** The application's key and secret; null when neither is set. @throws CliError, AccountError `unsafe`, ServiceSettingsError */
export function readAppCredential(io: Io): Credential | null {
  const key = readSecret(io, "ARMOIRE_APP_KEY");
  const secret = readSecret(io, "ARMOIRE_APP_SECRET");
  if (key === null && secret === null) return null;
  if (key !== null && secret !== null) return appCredential(key, secret);
  const [set, missing] =
    key === null ? ["ARMOIRE_APP_SECRET", "ARMOIRE_APP_KEY"] : ["ARMOIRE_APP_KEY", "ARMOIRE_APP_SECRET"];
  throw new CliError(
    "settings",
    `${set} is set, ${missing} is not.`,
    `Set both, or neither to read without a credential.`,
  );
}

/** From an environment variable, or from the file that its `_FILE` names. @throws CliError */
export function readSecret(io: Io, name: string): string | null {
  const value = io.env[name];
  if (value !== undefined && value !== "") return value;
  const file = io.env[`${name}_FILE`];
  if (file === undefined || file === "") return null;
  return readSecretFile(file, `${name}_FILE`, io.env).trim();
}

/**
 * A secret from a file that only its owner may read. What there is no such file of may be the secret itself, and is not shown.
 * @param from the option or variable that names the file
 * @throws CliError, AccountError `unsafe`
 */
export function readSecretFile(file: string, from: string, env: Io["env"]): string {
  const path = resolve(file);
  // Where systemd puts what `LoadCredential=` names.
  const { CREDENTIALS_DIRECTORY: folder } = env;
  const isHandedOver = folder !== undefined && path.startsWith(`${resolve(folder)}${sep}`);
  const text = existsSync(path)
    ? readPrivateFile(path, { followsLinks: true, acceptsSystemFile: isHandedOver })
    : null;
  if (text !== null) return text;
  throw new CliError("settings", `The file that ${from} names is not there.`, "Check its path.");
}

/** A user's token, from where others do not see it: a prompt, standard input, a file of her own, or the environment. */

export interface TokenFlags {
  readonly tokenStdin?: boolean;
  readonly tokenFile?: string;
}

/** Flags beat the environment, which beats asking. @throws CliError, AccountError `unsafe`, ServiceSettingsError */
export async function readGivenToken(flags: TokenFlags, name: string, io: Io): Promise<Credential> {
  return bearerToken((await readText(flags, name, io)).trim());
}

/** Null where the environment has none. @throws CliError, AccountError `unsafe`, ServiceSettingsError */
export function readTokenOfEnvironment(io: Io): Credential | null {
  const text = readEnvironment(io);
  return text === null ? null : bearerToken(text.trim());
}

async function readText({ tokenStdin, tokenFile }: TokenFlags, name: string, io: Io): Promise<string> {
  // On a terminal, what is typed would be shown.
  if (tokenStdin) return io.ask === null ? await io.readInput() : await ask(name, io.ask);
  if (tokenFile !== undefined) return readSecretFile(tokenFile, "--token-file", io.env);
  const text = readEnvironment(io);
  if (text !== null) return text;
  if (io.ask !== null) return await ask(name, io.ask);
  throw new CliError(
    "settings",
    "There is no token, and nobody to ask for it.",
    "Give it with --token-stdin, --token-file FILE or ARMOIRE_TOKEN; never as an argument.",
  );
}

function readEnvironment({ env }: Io): string | null {
  const { ARMOIRE_TOKEN: token, ARMOIRE_TOKEN_FILE: file } = env;
  if (token) return token;
  return file ? readSecretFile(file, "ARMOIRE_TOKEN_FILE", env) : null;
}

async function ask(name: string, question: NonNullable<Io["ask"]>): Promise<string> {
  const text = await question({ text: `Token for ${name} (not shown): `, isSecret: true });
  if (text) return text;
  throw new CliError("usage", "No token was given.", "Paste it at the prompt, then press Enter.");
}

/** The system's keychain; somebody who may have to unlock it is told so. */
export function keychainOf(io: Io): Keychain {
  return systemKeychain({
    env: io.env,
    onWait: () => io.err("Waiting for the system's keychain, which may be asking to be unlocked.\n"),
  });
}
