/** What a request is made with: an account's token from where it is kept, the catalogue's credential from the environment or from files that it names. */
import { readToken } from "../../accounts/tokens.ts";
import { appCredential, type Credential } from "../../service/credentials/credential.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError, exitCodes } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { keychainOf } from "./keychain.ts";
import { readSecretFile } from "./read-secret-file.ts";

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
    exitCodes.settings,
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
