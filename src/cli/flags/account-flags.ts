/** The options that make the mirror of an account whole: what her bras are, and pictures. */
import type { Command } from "commander";
import type { Account } from "../../accounts/account.ts";
import { SyncError } from "../../sync/errors.ts";
import type { AccountSyncOptions } from "../../sync/sync-account.ts";
import { formatOrigins } from "../format/report.ts";
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
    "of an account: also what her bras are, into the catalogue's mirror",
  );
}

export function addAccountFlags(command: Command): Command {
  return addCatalogueFlag(command).option(
    "--media",
    "of an account: also the pictures that her data refers to, wherever they are",
  );
}

/** @throws CliError where they are not about an account, or of pictures, which nobody knows before the bodies, only told of */
export function requireAccountFor(
  { withCatalogue, media, dryRun }: AccountFlags,
  { account }: Settings,
): void {
  const flag = withCatalogue ? "--with-catalogue" : media ? "--media" : null;
  if (flag === null) return;
  if (account === null)
    throw new CliError("usage", `${flag} is about an account.`, "Say whose with --account NAME.");
  if (dryRun && media) {
    const hint =
      "Leave one of the two out; what a sync of all but pictures would ask for is known without it.";
    throw new CliError("usage", "--dry-run says nothing of --media.", hint);
  }
}

/**
 * The parts that are wanted, with the catalogue's own credential and ledger.
 * @param remark shows a text to the person, unless she wants none
 * @throws CliError, ServiceSettingsError
 */
export function accountPartsOf(
  { withCatalogue, media }: AccountFlags,
  settings: Settings,
  io: Io,
  remark: (text: string) => void,
): Pick<AccountSyncOptions, "catalogue" | "media"> {
  const ledgerFile = catalogueLedgerFile(settings);
  return {
    ...(withCatalogue && {
      catalogue: { file: catalogueFileOf(settings), ledgerFile, credential: readAppCredential(io) },
    }),
    ...(media && {
      media: {
        ledgerFile,
        onOtherOrigins: (origins) => remark(formatOrigins(origins)),
      },
    }),
  };
}

/** Adds to an error about credentials what to do about this account. */
export function explainRefusal(error: unknown, { name }: Account): unknown {
  if (!(error instanceof SyncError) || (error.code !== "not-authenticated" && error.code !== "other-user"))
    return error;
  const hint = `Everything mirrored stays. \`armoire account add ${name}\` takes a new token of the same user.`;
  return new SyncError(error.code, error.message, hint);
}
