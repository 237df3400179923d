/** Formats accounts for people. */
import type { Account } from "../../../accounts/account.ts";
import type { AccountOverview } from "../../../accounts/overview.ts";
import type { RemainingCatalogueData, RemovedAccount } from "../../../accounts/remove-account.ts";
import { describeTokenPlace } from "../../../accounts/tokens/tokens.ts";
import { listMissingScopes } from "../../../mirror/account/token-scopes.ts";
import { nameOfUser, userOf } from "../../../mirror/account/user.ts";
import { formatMinute } from "../../../presentation/times.ts";
import type { AddedAccount } from "../../../sync/add-account.ts";
import type { Io } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatWrappedTable } from "../../terminal/table/text-table.ts";

export function formatAdded({ account, isReplaced, whyNoKeychain }: AddedAccount): string {
  const { name, baseUrl } = account;
  const place =
    whyNoKeychain === null
      ? `in ${describeTokenPlace(account)}`
      : `in a file that only you may read, ${account.tokenFile}\n          (not in a keychain: ${escapeControls(whyNoKeychain)})`;
  return [
    `${isReplaced ? "Replaced the token of" : "Added"} the account ${name}.\n`,
    `User      ${escapeControls(nameOfUser(userOf(account)))} at ${baseUrl}\n`,
    `May read  ${describeScopes(account)}\n`,
    `Token     ${place}\n`,
  ].join("");
}

export function formatAccounts(overviews: readonly AccountOverview[], screen: Io["screen"]): string {
  if (overviews.length === 0) return "There are no accounts. Add one with `armoire account add NAME`.\n";
  return formatWrappedTable(
    ["account", "user", "bras", "measurements", "last sync", "access"],
    overviews.map((overview) => [
      overview.name,
      overview.username ?? nameOfUser(userOf(overview)),
      overview.bras,
      overview.measurements,
      describeLastSync(overview.lastSync),
      `${describeScopes(overview)} at ${overview.baseUrl}; token in ${overview.tokenIn === "file" ? "a file" : "the keychain"}`,
    ]),
    screen,
  );
}

/** What was not seen is not claimed: a list is known to be granted only after its first response. */
function describeScopes({ scopes, unknownScopes }: Pick<Account, "scopes" | "unknownScopes">): string {
  const missing = listMissingScopes({ scopes, unknownScopes });
  const parts = [
    scopes.join(", "),
    ...(missing.length === 0 ? [] : [`not granted: ${missing.join(", ")}`]),
    ...(unknownScopes.length === 0 ? [] : [`not known until a sync: ${unknownScopes.join(", ")}`]),
  ];
  return parts.filter((part) => part !== "").join("; ");
}

function describeLastSync(run: AccountOverview["lastSync"]): string {
  if (run === null) return "never";
  if (run.state === "running") return "running";
  if (run.endedAt === null) return "not finished";
  const at = formatMinute(run.endedAt);
  return run.stopped === null ? at : `${at} (${run.stopped})`;
}

/** A warning about content that stays under other names; empty without any. All files are named, since each may hold secrets. */
export function formatHardLinked({ hardLinked }: RemovedAccount): string {
  if (hardLinked.length === 0) return "";
  const files = hardLinked.length === 1 ? "1 file was" : `${hardLinked.length} files were`;
  const names = hardLinked.map((file) => `  ${escapeControls(file)}\n`).join("");
  return (
    `${files} removed, but not overwritten, because the content has other names (hard links):\n${names}` +
    "Find the other names, and remove them if they are not wanted.\n"
  );
}

export function formatRemoved(removed: RemovedAccount): string {
  const { name, wasAccount, kept, remainingCatalogue, remainingToken } = removed;
  const isErased = kept.length === 0;
  const remaining = remainingCatalogue === null ? "" : describeRemaining(remainingCatalogue);
  if (!wasAccount) {
    const outcome = isErased ? "That data is erased." : describeKept(removed);
    return `The account ${name} was removed before; only its data was left. ${outcome}\n${remaining}`;
  }
  const rest = isErased
    ? remaining === ""
      ? "No data of it is left here."
      : "Its data is erased."
    : describeKept(removed);
  return `Removed the account ${name}${remainingToken === null ? " and its token" : ""}. ${rest}\n${remaining}`;
}

const describeKept = ({ name, folder }: RemovedAccount): string =>
  `The data stays in ${folder}; \`armoire account remove ${name} --purge\` erases it.`;

function describeRemaining({ file, entities }: RemainingCatalogueData): string {
  const resources =
    entities === null
      ? "Catalogue resources that --with-catalogue fetched for it may stay"
      : `${entities} linked catalogue ${entities === 1 ? "resource stays" : "resources stay"} (--with-catalogue)`;
  return `${resources} in the catalogue's mirror, which all accounts share: ${escapeControls(file)}\n`;
}
