/** The optional parts of an account's mirror: linked catalogue resources, and pictures. */
import type { Command } from "commander";
import type { Account } from "../../accounts/account.ts";
import { SyncError } from "../../sync/errors.ts";
import type { AccountSyncOptions } from "../../sync/sync-account.ts";
import { formatOrigins } from "../format/mirror/report.ts";
import { readAppCredential } from "../secrets/credentials.ts";
import { catalogueFileOf, catalogueLedgerFile } from "../settings/mirror-file.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";

export interface AccountFlags {
  readonly withCatalogue?: boolean;
  readonly media?: boolean;
  readonly dryRun?: boolean;
}

export function addCatalogueFlag(command: Command): Command {
  return command.option(
    "--with-catalogue",
    "with --account: also the brands, models and sizes that the bras link to",
  );
}

export function addAccountFlags(command: Command): Command {
  return addCatalogueFlag(command).option(
    "--media",
    "with --account: also pictures, from any host, without a credential",
  );
}

/** @throws CliError without an account, and for a dry run with pictures, which are only known after fetching */
export function requireAccountFor(
  { withCatalogue, media, dryRun }: AccountFlags,
  { account }: Settings,
): void {
  const flag = withCatalogue ? "--with-catalogue" : media ? "--media" : null;
  if (flag === null) return;
  if (account === null) throw new CliError("usage", `${flag} needs an account.`, "Add --account NAME.");
  if (dryRun && media) {
    const hint = "Leave one of the two out. The pictures are known only after the sync.";
    throw new CliError("usage", "--dry-run and --media cannot be given together.", hint);
  }
}

/**
 * The requested parts, with the catalogue's own credential and ledger.
 * @param notify prints a notice unless --quiet is set
 * @throws CliError, ServiceSettingsError
 */
export function accountPartsOf(
  { withCatalogue, media }: AccountFlags,
  settings: Settings,
  io: Io,
  notify: (text: string) => void,
): Pick<AccountSyncOptions, "catalogue" | "media"> {
  const ledgerFile = catalogueLedgerFile(settings);
  return {
    ...(withCatalogue && {
      catalogue: { file: catalogueFileOf(settings), ledgerFile, credential: readAppCredential(io) },
    }),
    ...(media && {
      media: {
        ledgerFile,
        onOtherOrigins: (origins) => notify(formatOrigins(origins)),
      },
    }),
  };
}

/** Replaces the hint of a credentials error by one about this account. */
export function explainRefusal(error: unknown, { name }: Account): unknown {
  if (!(error instanceof SyncError) || (error.code !== "not-authenticated" && error.code !== "other-user"))
    return error;
  const hint = `The mirrored data stays. \`armoire account add ${name}\` replaces the token.`;
  return new SyncError(error.code, error.message, hint);
}
