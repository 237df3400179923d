/** The principals of a worker, each with its credential from this machine. */
import type { Principal } from "../../../jobs/bullmq/queue-names.ts";
import { cataloguePrincipal } from "../../accounts/account-name.ts";
import { listAccountNames, readAccount } from "../../accounts/accounts.ts";
import { readToken } from "../../accounts/tokens/tokens.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { keychainOf, readAppCredential } from "./credentials.ts";

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

function baseUrlOf({ baseUrl }: Settings): string {
  if (baseUrl.value !== null) return baseUrl.value;
  throw new CliError(
    "settings",
    "The service's base URL is not set.",
    "Give --base-url URL or ARMOIRE_BASE_URL. Requests for the catalogue go only there.",
  );
}
