/** Accounts in words. */

import type { AccountOverview } from "../../accounts/overview.ts";
import type { RemainingCatalogueData, RemovedAccount } from "../../accounts/remove-account.ts";
import { describeTokenPlace } from "../../accounts/tokens/tokens.ts";
import { scopeNames } from "../../mirror/account/token-scopes.ts";
import { nameOfUser, userOf } from "../../mirror/account/user.ts";
import type { AddedAccount } from "../../sync/add-account.ts";
import { escapeControls, formatTable } from "../terminal/text-table.ts";

export function formatAdded({ account, isReplaced, whyNoKeychain }: AddedAccount): string {
  const { name, baseUrl, scopes } = account;
  const missing = scopeNames.filter((scope) => !scopes.includes(scope));
  const kept =
    whyNoKeychain === null
      ? `in ${describeTokenPlace(account)}`
      : `in a file that only you may read, ${account.tokenFile}\n          (not in a keychain: ${escapeControls(whyNoKeychain)})`;
  return [
    `${isReplaced ? "Replaced the token of" : "Added"} the account ${name}.\n`,
    `User      ${escapeControls(nameOfUser(userOf(account)))} at ${baseUrl}\n`,
    `May see   ${scopes.join(", ")}${missing.length === 0 ? "" : `; not granted: ${missing.join(", ")}`}\n`,
    `Token     ${kept}\n`,
  ].join("");
}

export function formatAccounts(overviews: readonly AccountOverview[]): string {
  if (overviews.length === 0) return "There are no accounts. `armoire account add NAME` makes one.\n";
  return formatTable(
    ["account", "user", "service", "may see", "last sync", "bras", "measurements", "token"],
    overviews.map((overview) => [
      overview.name,
      overview.username ?? nameOfUser(userOf(overview)),
      overview.baseUrl,
      overview.scopes.join(" "),
      describeLastSync(overview.lastSync),
      overview.bras ?? "",
      overview.measurements ?? "",
      overview.tokenIn,
    ]),
  );
}

function describeLastSync(run: AccountOverview["lastSync"]): string {
  if (run === null) return "never";
  if (run.state === "running") return "running";
  if (run.endedAt === null) return "not finished";
  return run.stopped === null ? run.endedAt : `${run.endedAt} (${run.stopped})`;
}

export function formatRemoved(removed: RemovedAccount): string {
  const { name, wasAccount, kept, catalogueLeft, tokenLeft } = removed;
  const isErased = kept.length === 0;
  const beside = catalogueLeft === null ? "" : describeLeft(catalogueLeft);
  if (!wasAccount) {
    const what = `There was no account ${name} any more, only data that it had left.`;
    return `${what} ${isErased ? "That is erased." : whereKept(removed)}\n${beside}`;
  }
  const rest = isErased
    ? beside === ""
      ? "Nothing of it is left here."
      : "Its data is erased."
    : whereKept(removed);
  return `Removed the account ${name}${tokenLeft === null ? " and its token" : ""}. ${rest}\n${beside}`;
}

const whereKept = ({ name, folder }: RemovedAccount): string =>
  `The data stays in ${folder}; \`armoire account remove ${name} --purge\` erases it.`;

function describeLeft({ file, entities }: RemainingCatalogueData): string {
  const what =
    entities === null
      ? "What --with-catalogue may have fetched for it, such as its models and sizes, stays"
      : `Of what the bras are (--with-catalogue), ${entities} ${entities === 1 ? "entry stays" : "entries stay"}`;
  return `${what} in the catalogue's mirror, which is not its alone: ${escapeControls(file)}\n`;
}
