/** Checks the mirror of each account and that its token is stored, without the service and without the keychain. */
import { existsSync } from "node:fs";
import type { Account } from "../accounts/account.ts";
import { listAccountNames, readAccount } from "../accounts/accounts.ts";
import { describeTokenPlace } from "../accounts/tokens/tokens.ts";
import { checkMirror, type Diagnosis, diagnoseError } from "./diagnose.ts";

/** Empty without accounts. @throws FileError if the folder of accounts cannot be read or is unsafe */
export function diagnoseAccounts(dataDir: string): Diagnosis[] {
  const names = listAccountNames(dataDir);
  if (names.length === 0) return [];
  const message = names.length === 1 ? "There is 1 account" : `There are ${names.length} accounts`;
  const hint = "`armoire doctor --account NAME` checks that the service accepts the token.";
  return [...names.map((name) => diagnoseAccount(dataDir, name)), { isOk: true, message, hint }];
}

function diagnoseAccount(dataDir: string, name: string): Diagnosis {
  try {
    return diagnoseReadable(readAccount(dataDir, name));
  } catch (error) {
    return diagnoseError(error);
  }
}

function diagnoseReadable(account: Account): Diagnosis {
  const { name, mirrorFile, tokenIn, tokenFile } = account;
  const mirror = existsSync(mirrorFile) ? checkMirror(mirrorFile) : null;
  if (mirror?.isOk === false) return mirror;
  if (tokenIn === "file" && !existsSync(tokenFile)) {
    return {
      isOk: false,
      message: `The token file of the account ${name} is missing: ${tokenFile}`,
      hint: `Store the token again with \`armoire account add ${name}\`.`,
    };
  }
  const mirrorText = mirror === null ? "it has no mirror yet" : `its mirror ${mirrorFile} is readable`;
  const message = `The account ${name}: ${mirrorText}; its token is in ${describeTokenPlace(account)}`;
  return { isOk: true, message, hint: null };
}
