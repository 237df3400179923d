/** Each account: its mirror, and where its token is. Nobody is asked, and no keychain. */
import { existsSync } from "node:fs";
import { listAccountNames, readAccount } from "../accounts/accounts.ts";
import { describeTokenPlace } from "../accounts/tokens/tokens.ts";
import { checkMirror, type Diagnosis, diagnoseError } from "./diagnose.ts";

/** None where there are no accounts. @throws AccountError where nobody can say which there are */
export function diagnoseAccounts(dataDir: string): Diagnosis[] {
  const names = listAccountNames(dataDir);
  if (names.length === 0) return [];
  const many = names.length === 1 ? "There is 1 account" : `There are ${names.length} accounts`;
  const hint = "`armoire doctor --account NAME` asks the service whether it accepts the token.";
  return [...names.map((name) => diagnoseAccount(dataDir, name)), { isWell: true, what: many, hint }];
}

function diagnoseAccount(dataDir: string, name: string): Diagnosis {
  try {
    const account = readAccount(dataDir, name);
    const { mirrorFile, tokenIn, tokenFile } = account;
    const isThere = existsSync(mirrorFile);
    const mirror = isThere ? checkMirror(mirrorFile) : null;
    if (mirror?.isWell === false) return mirror;
    if (tokenIn === "file" && !existsSync(tokenFile)) {
      const what = `The token of the account ${name} is not where it was kept: ${tokenFile}`;
      return { isWell: false, what, hint: `\`armoire account add ${name}\` takes it again.` };
    }
    const held = isThere ? `the mirror ${mirrorFile} can be read` : "there is no mirror yet";
    return {
      isWell: true,
      what: `The account ${name}: ${held}, the token is in ${describeTokenPlace(account)}`,
      hint: null,
    };
  } catch (error) {
    return diagnoseError(error);
  }
}
