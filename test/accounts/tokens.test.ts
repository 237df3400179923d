import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountPlace } from "../../src/accounts/account.ts";
import { readAccount } from "../../src/accounts/accounts.ts";
import { removeAccount } from "../../src/accounts/remove-account.ts";
import { KeychainError } from "../../src/accounts/tokens/keychain.ts";
import { readToken, storeToken } from "../../src/accounts/tokens/tokens.ts";
import { bearerToken, tokenText } from "../../src/service/credentials/credential.ts";
import { type AccountRig, startAccountRig } from "./support/account-rig.ts";
import { factsOf, noKeychain, someTime } from "./support/facts.ts";
import { brokenKeychain, memoryKeychain } from "./support/memory-keychain.ts";

let rig: AccountRig;
beforeEach(async () => {
  rig = await startAccountRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

describe("with a keychain", () => {
  it("the token is in the keychain and in no file", async () => {
    const keychain = memoryKeychain();
    const { account, whyNoKeychain } = await rig.keep("ada", "canary-1", keychain);
    expect({ tokenIn: account.tokenIn, whyNoKeychain }).toEqual({ tokenIn: "keychain", whyNoKeychain: null });
    expect([...keychain.secrets]).toEqual([[account.keychainEntry, "canary-1"]]);
    expect(existsSync(account.tokenFile)).toBe(false);
    expect(readFileSync(account.accountFile, "utf8")).not.toContain("canary");
    expect(tokenText(await readToken(readAccount(rig.dataDir, "ada"), keychain))).toBe("canary-1");
  });

  it("accounts have different keychain entries, also in different data directories", async () => {
    await using otherRig = await startAccountRig();
    const keychain = memoryKeychain();
    for (const [where, name] of [
      [rig, "ada"],
      [rig, "eve"],
      [otherRig, "ada"],
    ] as const)
      await where.keep(name, `canary-${name}`, keychain);
    expect(keychain.secrets.size).toBe(3);
  });

  it("an account recorded again after its file was lost gets a new keychain entry", async () => {
    const keychain = memoryKeychain();
    const { account: lost } = await rig.keep("ada", "canary-1", keychain);
    rmSync(lost.accountFile);
    const { account } = await rig.keep("ada", "canary-2", keychain);
    expect(account.keychainEntry).not.toBe(lost.keychainEntry);
    expect(tokenText(await readToken(account, keychain))).toBe("canary-2");
    expect(keychain.secrets.get(lost.keychainEntry)).toBe("canary-1");
  });

  it("an earlier token file is erased when the token goes to the keychain", async () => {
    const { tokenFile } = await rig.account("ada");
    expect(existsSync(tokenFile)).toBe(true);
    const { account } = await rig.keep("ada", "canary-2", memoryKeychain());
    expect([account.tokenIn, existsSync(tokenFile)]).toEqual(["keychain", false]);
  });

  it("the temporary token file of a killed process is erased", async () => {
    const { tokenFile } = await rig.account("ada");
    writeFileSync(`${tokenFile}.new`, "canary-1");
    await rig.keep("ada", "canary-2", memoryKeychain());
    expect(existsSync(`${tokenFile}.new`)).toBe(false);
  });

  it("a token missing from the keychain is an error with a hint", async () => {
    const keychain = memoryKeychain();
    const { account } = await rig.keep("ada", "canary-1", keychain);
    keychain.secrets.clear();
    await expect(readToken(account, keychain)).rejects.toMatchObject({
      code: "no-token",
      message: expect.stringMatching(/is missing: the system's keychain/),
      hint: expect.stringMatching(/account add ada.*the mirror stays/),
    });
  });

  it("a locked keychain is an error with the reason", async () => {
    const { account } = await rig.keep("ada", "canary-1", memoryKeychain());
    await expect(readToken(account, brokenKeychain("it is locked"))).rejects.toMatchObject({
      code: "no-token",
      message: expect.stringMatching(/it is locked/),
    });
  });
});

describe("without a keychain", () => {
  it("the token is in a file that only its owner can read, and the reason is returned", async () => {
    const { account, whyNoKeychain } = await rig.keep("ada", "canary-1");
    expect({ tokenIn: account.tokenIn, whyNoKeychain }).toEqual({
      tokenIn: "file",
      whyNoKeychain: "there is none",
    });
    expect(readFileSync(account.tokenFile, "utf8")).toBe("canary-1\n");
    expect(tokenText(await readToken(readAccount(rig.dataDir, "ada"), noKeychain))).toBe("canary-1");
  });

  it("the reason does not contain the token", async () => {
    const echo = brokenKeychain("cannot store 'canary-1' (Y2FuYXJ5LTE=)");
    const { whyNoKeychain } = await rig.keep("ada", "canary-1", echo);
    expect(whyNoKeychain).toBe("cannot store '[credential]' ([credential])");
  });

  it("a missing token file is an error that asks to store the token again", async () => {
    const account = await rig.account("ada");
    rmSync(account.tokenFile);
    await expect(readToken(account, noKeychain)).rejects.toMatchObject({ code: "no-token" });
  });

  it.skipIf(process.platform === "win32").each([0o644, 0o640, 0o604, 0o620])(
    "a token that others may reach (%o) is not used",
    async (mode) => {
      const account = await rig.account("ada");
      chmodSync(account.tokenFile, mode);
      await expect(readToken(account, noKeychain)).rejects.toMatchObject({
        code: "unsafe",
        hint: `Run: chmod 600 '${account.tokenFile}'`,
      });
    },
  );

  it("a file without a valid token is an error", async () => {
    const account = await rig.account("ada");
    writeFileSync(account.tokenFile, "two words");
    await expect(readToken(account, noKeychain)).rejects.toMatchObject({ code: "bad-credential" });
  });
});

describe("interruption", () => {
  async function interruptKeeping(): Promise<void> {
    const interruption = new AbortController();
    const waiting = {
      ...memoryKeychain(),
      set: () => {
        interruption.abort("interrupted");
        return Promise.reject(new KeychainError("the keychain process ended with SIGINT"));
      },
    };
    const token = bearerToken("canary-2");
    await expect(storeToken(rig.dataDir, factsOf("ada"), token, waiting, interruption.signal)).rejects.toBe(
      "interrupted",
    );
  }

  it("Ctrl-C during a prompt of the keychain writes no token file", async () => {
    await interruptKeeping();
    expect(existsSync(accountPlace(rig.dataDir, "ada").tokenFile)).toBe(false);
  });

  it("Ctrl-C during a prompt of the keychain leaves an existing account with its earlier token", async () => {
    const before = await rig.account("ada", "canary-1");
    await interruptKeeping();
    const after = readAccount(rig.dataDir, "ada");
    expect(after).toEqual(before);
    expect(tokenText(await readToken(after, noKeychain))).toBe("canary-1");
  });
});

it("a keychain process that dies while it stores the token leaves an account without a token, which can be removed", async () => {
  const dying = { ...memoryKeychain(), set: () => Promise.reject(new Error("killed")) };
  await expect(rig.keep("ada", "canary-1", dying)).rejects.toThrow("killed");
  const account = readAccount(rig.dataDir, "ada");
  await expect(readToken(account, memoryKeychain())).rejects.toMatchObject({ code: "no-token" });
  const removing = { dataDir: rig.dataDir, name: "ada", purge: true, startedAt: someTime };
  await removeAccount({ ...removing, keychain: memoryKeychain() });
  expect(existsSync(account.folder)).toBe(false);
});
