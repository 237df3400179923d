/** The principals of a worker, each with its credential from this machine. */
import type { Principal } from "../../../jobs/bullmq/queue-names.ts";
import { cataloguePrincipal, isAccountName, looksLikeToken } from "../../accounts/account-name.ts";
import { listAccountNames, readAccount } from "../../accounts/accounts.ts";
import { readToken } from "../../accounts/tokens/tokens.ts";
import { bearerToken } from "../../service/credentials/credential.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { keychainOf, readAppCredential, readSecretFile } from "./credentials.ts";

/**
 * @param names empty for all principals with a credential on this machine
 * @throws CliError, AccountError, ServiceSettingsError
 */
export async function readPrincipals(
  names: readonly string[],
  settings: Settings,
  io: Io,
): Promise<Principal[]> {
  const dataDir = settings.dataDir.value;
  const requested =
    names.length > 0
      ? [...new Set(names)]
      : [...(settings.baseUrl.value === null ? [] : [cataloguePrincipal]), ...listAccountNames(dataDir)];
  if (requested.length === 0) {
    throw new CliError(
      "settings",
      "There is nothing to send requests for: no base URL and no account.",
      "Give --base-url URL for the catalogue, or add an account with `armoire account add NAME`.",
    );
  }
  return await Promise.all(
    requested.map(async (name) => {
      if (name === cataloguePrincipal)
        return { name, baseUrl: baseUrlOf(settings), credential: readAppCredential(io) };
      const account = readAccount(dataDir, name);
      return { name, baseUrl: account.baseUrl, credential: await readToken(account, keychainOf(io)) };
    }),
  );
}

/** Of a worker for many accounts: one line for each, with its name and its token. */
const principalLine = /^(\S+)[ \t]+(\S+)$/;
const maxPrincipalsBytes = 1_048_576;

/**
 * @param file private; neither of its names has to be an account of this machine
 * @throws CliError, FileError `unsafe`; no message has a part of the file
 */
export function readPrincipalsFile(file: string, settings: Settings, io: Io): Principal[] {
  const baseUrl = baseUrlOf(settings);
  const lines = readSecretFile(file, "--principals", io.env, maxPrincipalsBytes)
    .split(/\r?\n/)
    .map((line, n) => ({ text: line.trim(), number: n + 1 }))
    .filter(({ text }) => text !== "" && !text.startsWith("#"));
  const principals = lines.map(({ text, number }) => {
    const [, name = "", token = ""] = principalLine.exec(text) ?? [];
    if (!isAccountName(name) || looksLikeToken(name) || name === cataloguePrincipal)
      throw new CliError(
        "settings",
        `Line ${number} of --principals is not the name of an account and its token.`,
        "Write one account a line: NAME TOKEN, with the coordinator's name for it.",
      );
    return { name, baseUrl, credential: bearerToken(token) };
  });
  const repeated = principals.find(({ name }, n) => principals.findIndex((p) => p.name === name) !== n);
  if (principals.length === 0 || repeated !== undefined)
    throw new CliError(
      "settings",
      repeated === undefined ? "--principals has no account." : `--principals has ${repeated.name} twice.`,
      "Write one account a line: NAME TOKEN.",
    );
  return principals;
}

function baseUrlOf({ baseUrl }: Settings): string {
  if (baseUrl.value !== null) return baseUrl.value;
  throw new CliError(
    "settings",
    "The service's base URL is not set.",
    "Give --base-url URL or ARMOIRE_BASE_URL. Requests for the catalogue go only there.",
  );
}
