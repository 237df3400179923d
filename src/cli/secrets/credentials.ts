/** Credentials: an account's token from its store, and the catalogue's from the environment or from private files. */
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

/** The account's token, or without an account the catalogue's credential. @throws AccountError, CliError, ServiceSettingsError */
export async function readCredential({ account }: Settings, io: Io): Promise<Credential | null> {
  return account === null ? readAppCredential(io) : await readToken(account, keychainOf(io));
}

/** The application's key and secret; null when neither is set. @throws CliError, FileError `unsafe`, ServiceSettingsError */
export function readAppCredential(io: Io): Credential | null {
  const key = readSecret(io, "ARMOIRE_APP_KEY");
  const secret = readSecret(io, "ARMOIRE_APP_SECRET");
  if (key === null && secret === null) return null;
  if (key !== null && secret !== null) return appCredential(key, secret);
  const [set, missing] =
    key === null ? ["ARMOIRE_APP_SECRET", "ARMOIRE_APP_KEY"] : ["ARMOIRE_APP_KEY", "ARMOIRE_APP_SECRET"];
  throw new CliError(
    "settings",
    `${set} is set, but ${missing} is not.`,
    `Set both, or neither to read without a credential.`,
  );
}

/** Reads an environment variable, or the file that `NAME_FILE` names. @throws CliError */
export function readSecret(io: Io, name: string): string | null {
  const value = io.env[name];
  if (value !== undefined && value !== "") return value;
  const file = io.env[`${name}_FILE`];
  if (file === undefined || file === "") return null;
  return readSecretFile(file, `${name}_FILE`, io.env).trim();
}

/**
 * Reads a secret from a private file. The name of a missing file is not shown: it may be the secret itself.
 * @param from the option or variable that names the file
 * @throws CliError, FileError `unsafe`
 */
export function readSecretFile(file: string, from: string, env: Io["env"], maxBytes?: number): string {
  const path = resolve(file);
  // systemd puts the files of `LoadCredential=` there.
  const { CREDENTIALS_DIRECTORY: folder } = env;
  const isSystemdCredential = folder !== undefined && path.startsWith(`${resolve(folder)}${sep}`);
  const text = existsSync(path)
    ? readPrivateFile(path, {
        ...{ followsLinks: true, acceptsSystemFile: isSystemdCredential },
        ...(maxBytes !== undefined && { maxBytes }),
      })
    : null;
  if (text !== null) return text;
  throw new CliError("settings", `The file of ${from} does not exist.`, "Check its path.");
}

export interface TokenFlags {
  readonly tokenStdin?: boolean;
  readonly tokenFile?: string;
}

/** A user's token from a flag, else from the environment, else from a prompt. @throws CliError, FileError `unsafe`, ServiceSettingsError */
export async function readGivenToken(flags: TokenFlags, name: string, io: Io): Promise<Credential> {
  return bearerToken((await readText(flags, name, io)).trim());
}

/** @returns null without a token in the environment @throws CliError, FileError `unsafe`, ServiceSettingsError */
export function readTokenOfEnvironment(io: Io): Credential | null {
  const text = readEnvironment(io);
  return text === null ? null : bearerToken(text.trim());
}

async function readText({ tokenStdin, tokenFile }: TokenFlags, name: string, io: Io): Promise<string> {
  // A terminal would show the typed token, so it is prompted for.
  if (tokenStdin) return io.ask === null ? await io.readInput() : await promptForToken(name, io.ask);
  if (tokenFile !== undefined) return readSecretFile(tokenFile, "--token-file", io.env);
  const text = readEnvironment(io);
  if (text !== null) return text;
  if (io.ask !== null) return await promptForToken(name, io.ask);
  throw new CliError(
    "settings",
    "The token is missing, and there is no terminal to ask for it.",
    "Give it with --token-stdin, --token-file FILE or ARMOIRE_TOKEN; never as an argument.",
  );
}

function readEnvironment({ env }: Io): string | null {
  const { ARMOIRE_TOKEN: token, ARMOIRE_TOKEN_FILE: file } = env;
  if (token) return token;
  return file ? readSecretFile(file, "ARMOIRE_TOKEN_FILE", env) : null;
}

async function promptForToken(name: string, question: NonNullable<Io["ask"]>): Promise<string> {
  const text = await question({ text: `Token for ${name} (not shown): `, isSecret: true });
  if (text) return text;
  throw new CliError("usage", "No token was given.", "Paste the token at the prompt, then press Enter.");
}

/** The system's keychain. A notice appears while it waits to be unlocked. */
export function keychainOf(io: Io): Keychain {
  return systemKeychain({
    env: io.env,
    onWait: () => io.err("Waiting for the system's keychain, which may need to be unlocked.\n"),
  });
}
