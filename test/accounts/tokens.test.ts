import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountPlace } from "../../src/accounts/account.ts";
import { readAccount } from "../../src/accounts/accounts.ts";
import { removeAccount } from "../../src/accounts/remove-account.ts";
import { KeychainError } from "../../src/accounts/tokens/keychain.ts";
import { keepToken, readToken } from "../../src/accounts/tokens/tokens.ts";
import { bearerToken, tokenText } from "../../src/service/credentials/credential.ts";
import { type AccountRig, factsOf, noKeychain, someTime, startAccountRig } from "./support/account-rig.ts";
import { brokenKeychain, memoryKeychain } from "./support/memory-keychain.ts";

let rig: AccountRig;
beforeEach(async () => {
  rig = await startAccountRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

describe("where there is a keychain", () => {
  it("it gets the token, and no file has it", async () => {
    const keychain = memoryKeychain();
    const { account, whyNoKeychain } = await rig.keep("ada", "canary-1", keychain);
    expect({ tokenIn: account.tokenIn, whyNoKeychain }).toEqual({ tokenIn: "keychain", whyNoKeychain: null });
    expect([...keychain.secrets]).toEqual([[account.keychainEntry, "canary-1"]]);
    expect(existsSync(account.tokenFile)).toBe(false);
    expect(readFileSync(account.accountFile, "utf8")).not.toContain("canary");
    expect(tokenText(await readToken(readAccount(rig.dataDir, "ada"), keychain))).toBe("canary-1");
  });

  it("two accounts never have one entry, also in two data directories", async () => {
    await using other = await startAccountRig();
    const keychain = memoryKeychain();
    for (const [where, name] of [
      [rig, "ada"],
      [rig, "eve"],
      [other, "ada"],
    ] as const)
      await where.keep(name, `canary-${name}`, keychain);
    expect(keychain.secrets.size).toBe(3);
  });

  it("what it still has of an account whose file was lost is nobody's, and the next one's token is another entry", async () => {
    const keychain = memoryKeychain();
    const { account: lost } = await rig.keep("ada", "canary-1", keychain);
    rmSync(lost.accountFile);
    const { account } = await rig.keep("ada", "canary-2", keychain);
    expect(account.keychainEntry).not.toBe(lost.keychainEntry);
    expect(tokenText(await readToken(account, keychain))).toBe("canary-2");
    expect(keychain.secrets.get(lost.keychainEntry)).toBe("canary-1");
  });

  it("a token that lay in a file moves there, and the file goes", async () => {
    const { tokenFile } = await rig.account("ada");
    expect(existsSync(tokenFile)).toBe(true);
    const { account } = await rig.keep("ada", "canary-2", memoryKeychain());
    expect([account.tokenIn, existsSync(tokenFile)]).toEqual(["keychain", false]);
  });

  it("what a killed process left of a token file goes", async () => {
    const { tokenFile } = await rig.account("ada");
    writeFileSync(`${tokenFile}.new`, "canary-1");
    await rig.keep("ada", "canary-2", memoryKeychain());
    expect(existsSync(`${tokenFile}.new`)).toBe(false);
  });

  it("that has lost the token, says so and what to do", async () => {
    const keychain = memoryKeychain();
    const { account } = await rig.keep("ada", "canary-1", keychain);
    keychain.secrets.clear();
    await expect(readToken(account, keychain)).rejects.toMatchObject({
      code: "no-token",
      message: expect.stringMatching(/not where it was kept: the system's keychain/),
      hint: expect.stringMatching(/account add ada.*what is mirrored stays/),
    });
  });

  it("that is locked, says why", async () => {
    const { account } = await rig.keep("ada", "canary-1", memoryKeychain());
    await expect(readToken(account, brokenKeychain("it is locked"))).rejects.toMatchObject({
      code: "no-token",
      message: expect.stringMatching(/it is locked/),
    });
  });
});

describe("where there is none", () => {
  it("a file for its owner alone gets the token, and why is told", async () => {
    const { account, whyNoKeychain } = await rig.keep("ada", "canary-1");
    expect({ tokenIn: account.tokenIn, whyNoKeychain }).toEqual({
      tokenIn: "file",
      whyNoKeychain: "there is none",
    });
    expect(readFileSync(account.tokenFile, "utf8")).toBe("canary-1\n");
    expect(tokenText(await readToken(readAccount(rig.dataDir, "ada"), noKeychain))).toBe("canary-1");
  });

  it("what the keychain says is told without the token", async () => {
    const echo = brokenKeychain("cannot store 'canary-1' (Y2FuYXJ5LTE=)");
    const { whyNoKeychain } = await rig.keep("ada", "canary-1", echo);
    expect(whyNoKeychain).toBe("cannot store '[credential]' ([credential])");
  });

  it("a token whose file is gone is asked for again", async () => {
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

  it("what is no token is not sent", async () => {
    const account = await rig.account("ada");
    writeFileSync(account.tokenFile, "two words");
    await expect(readToken(account, noKeychain)).rejects.toMatchObject({ code: "bad-credential" });
  });
});

describe("Ctrl-C while the keychain waits", () => {
  async function interruptKeeping(): Promise<void> {
    const interruption = new AbortController();
    const waiting = {
      ...noKeychain,
      set: () => {
        interruption.abort("interrupted");
        return Promise.reject(new KeychainError("the process that asks it ended with SIGINT"));
      },
    };
    const token = bearerToken("canary-2");
    await expect(keepToken(rig.dataDir, factsOf("ada"), token, waiting, interruption.signal)).rejects.toBe(
      "interrupted",
    );
  }

  it("puts the token into no file", async () => {
    await interruptKeeping();
    expect(existsSync(accountPlace(rig.dataDir, "ada").tokenFile)).toBe(false);
  });

  it("leaves an account that was there with the token that it had", async () => {
    const before = await rig.account("ada", "canary-1");
    await interruptKeeping();
    const after = readAccount(rig.dataDir, "ada");
    expect(after).toEqual(before);
    expect(tokenText(await readToken(after, noKeychain))).toBe("canary-1");
  });
});

describe("a keychain that dies while it gets the token", () => {
  it("leaves an account that asks for its token, and that can be removed", async () => {
    const dying = { ...noKeychain, set: () => Promise.reject(new Error("killed")) };
    await expect(rig.keep("ada", "canary-1", dying)).rejects.toThrow("killed");
    const account = readAccount(rig.dataDir, "ada");
    await expect(readToken(account, memoryKeychain())).rejects.toMatchObject({ code: "no-token" });
    const removing = { dataDir: rig.dataDir, name: "ada", purge: true, startedAt: someTime };
    await removeAccount({ ...removing, keychain: memoryKeychain() });
    expect(existsSync(account.folder)).toBe(false);
  });
});
