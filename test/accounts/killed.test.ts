/** Processes that are killed before each step of adding or removing an account. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { accountPlace } from "../../src/accounts/account.ts";
import { listAccountNames, listRemovedAccounts, readAccount } from "../../src/accounts/accounts.ts";
import { removeAccount } from "../../src/accounts/remove-account.ts";
import { readToken } from "../../src/accounts/tokens/tokens.ts";
import { tokenText } from "../../src/service/credentials/credential.ts";
import { firstKill, killStride } from "../support/thorough.ts";
import { type AccountRig, startAccountRig } from "./support/account-rig.ts";
import { someTime } from "./support/facts.ts";
import { memoryKeychain } from "./support/memory-keychain.ts";

let rig: AccountRig;
beforeEach(async () => {
  rig = await startAccountRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

const remove = () =>
  removeAccount({
    dataDir: rig.dataDir,
    name: "ada",
    purge: true,
    keychain: memoryKeychain(),
    startedAt: someTime,
  });

/** @returns false if the action has fewer steps */
function killBefore(step: number, action: "add" | "remove"): boolean {
  const program = join(import.meta.dirname, "support/dying-process.ts");
  const args = [program, action, rig.dataDir, "ada", String(step)];
  const { signal, status, stderr } = spawnSync(process.execPath, args);
  const hasDied = signal !== null;
  expect({ status, stderr: String(stderr) }).toEqual({ status: hasDied ? null : 0, stderr: "" });
  return hasDied;
}

const steps = `each ${killStride}., from ${firstKill}`;

it(`a removal that is killed at any step can be completed by removing the account again (${steps})`, async () => {
  let step = firstKill;
  for (; ; step += killStride) {
    const { folder, tokenFile } = await rig.accountWithData("ada");
    if (!killBefore(step, "remove")) break;
    if (!existsSync(folder)) {
      await expect(remove()).rejects.toMatchObject({ code: "unknown" });
      expect(readdirSync(dirname(folder))).toEqual(["accounts.lock"]);
      continue;
    }
    const names = listAccountNames(rig.dataDir);
    expect(names.includes("ada") || !existsSync(tokenFile)).toBe(true);
    expect(names.includes("ada") || listRemovedAccounts(rig.dataDir).some(({ name }) => name === "ada")).toBe(
      true,
    );
    expect(await remove()).toMatchObject({ kept: [], remainingToken: null });
    expect(existsSync(folder)).toBe(false);
  }
  expect(step).toBeGreaterThan(15);
});

it.each([false, true])(
  `adding an account (existing: %s) that is killed at any step can be repeated or undone (${steps})`,
  async (isExisting) => {
    let step = firstKill;
    let isRepeated = false;
    for (; ; step += killStride) {
      if (isExisting) await rig.account("ada", "canary-token-0001");
      if (!killBefore(step, "add")) break;
      const { folder, tokenFile } = accountPlace(rig.dataDir, "ada");
      if (listAccountNames(rig.dataDir).includes("ada")) {
        const token = readToken(readAccount(rig.dataDir, "ada"), memoryKeychain()).then(tokenText);
        const allowed = isExisting ? /^canary-token-000[12]$/ : /^(canary-token-0002|no-token)$/;
        await expect(token.catch(({ code }) => code)).resolves.toMatch(allowed);
        // There was no keychain: a removal must not look for the token there.
        expect(readAccount(rig.dataDir, "ada").mayBeInKeychain).toBe(false);
      } else expect(existsSync(tokenFile)).toBe(false);
      isRepeated = !isRepeated;
      if (isRepeated) expect((await rig.account("ada")).tokenIn).toBe("file");
      if (existsSync(folder)) expect(await remove()).toMatchObject({ kept: [], remainingToken: null });
    }
    expect(step).toBeGreaterThan(8);
  },
);
