import { rmdirSync, rmSync } from "node:fs";
import { accountPlace, accountsFolder } from "./account.ts";
import { lockAccounts } from "./accounts-lock.ts";
import { makeAccountFolder } from "./private-folder.ts";

/**
 * Has an account's folder there, and no other process adding or removing accounts, for as long as `act` takes. Where that
 * fails, what was made for it is taken back: a token that is refused leaves no trace.
 * @param startedAt ISO 8601
 * @throws AccountError, MirrorError, what `act` throws
 */
export async function inAccountFolder<Result>(
  dataDir: string,
  name: string,
  startedAt: string,
  act: () => Promise<Result>,
): Promise<Result> {
  const { folder } = accountPlace(dataDir, name);
  const made = makeAccountFolder(dataDir, name);
  let isDone = false;
  try {
    const lock = lockAccounts(dataDir, startedAt);
    try {
      const result = await act();
      isDone = true;
      return result;
    } finally {
      if (!isDone && made.includes(folder)) rmSync(folder, { recursive: true });
      if (!isDone && made.includes(accountsFolder(dataDir))) lock.releaseAndRemove();
      else lock.release();
    }
  } finally {
    if (!isDone) takeBack(made);
  }
}

function takeBack(made: readonly string[]): void {
  for (const path of made) {
    try {
      rmdirSync(path);
    } catch {
      // It is gone already, or another process has put something there.
    }
  }
}
