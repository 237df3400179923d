import { join } from "node:path";
import { MirrorError } from "../mirror/file/errors.ts";
import { type Lock, takeLock } from "../mirror/file/lock.ts";
import { accountsFolder } from "./account.ts";
import { AccountError } from "./account-error.ts";

/** No account can have this name: there is a dot in those of its files. */
const lockedName = (dataDir: string): string => join(accountsFolder(dataDir), "accounts");

/**
 * One process at a time adds or removes accounts. The folder must be there.
 * @param startedAt ISO 8601
 * @throws AccountError `busy`, naming the holder; MirrorError `unwritable`
 */
export function lockAccounts(dataDir: string, startedAt: string): Lock {
  try {
    return takeLock(lockedName(dataDir), startedAt);
  } catch (error) {
    if (!(error instanceof MirrorError) || error.code !== "locked") throw error;
    const holder = error.what.replace(/^.* in use by /, "");
    throw new AccountError(
      "busy",
      `An account is being added or removed in ${dataDir} by ${holder}.`,
      "Wait until it has finished, or stop it.",
      { cause: error },
    );
  }
}
