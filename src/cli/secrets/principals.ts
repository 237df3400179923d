/** On whose behalf a worker sends: the catalogue's credential, and the tokens of accounts, as this machine has them. */
import type { Principal } from "../../../jobs/bullmq/queue-names.ts";
import { cataloguePrincipal } from "../../accounts/account.ts";
import { listAccountNames, readAccount } from "../../accounts/accounts.ts";
import { readToken } from "../../accounts/tokens/tokens.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { keychainOf, readAppCredential } from "./credentials.ts";

/**
 * @param names whom the user named; all that this machine has a credential for when empty
 * @throws CliError, AccountError, ServiceSettingsError
 */
export async function readPrincipals(
  names: readonly string[],
  settings: Settings,
  io: Io,
): Promise<Principal[]> {
  const dataDir = settings.dataDir.value;
  const wanted =
    names.length > 0
      ? [...new Set(names)]
      : [...(settings.baseUrl.value === null ? [] : [cataloguePrincipal]), ...listAccountNames(dataDir)];
  if (wanted.length === 0) {
    throw new CliError(
      "settings",
      "There is nobody to send requests for.",
      "Give --base-url URL for the catalogue, or `armoire account add NAME` for an account.",
    );
  }
  return await Promise.all(
    wanted.map(async (name) => {
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
    "Give --base-url URL or ARMOIRE_BASE_URL; requests for the catalogue are sent there only.",
  );
}
