import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  listAccountNames,
  listRemovedAccounts,
  lockAccounts,
  readAccount,
} from "../../src/accounts/accounts.ts";
import { removeAccount } from "../../src/accounts/remove-account.ts";
import type { Keychain } from "../../src/accounts/tokens/keychain.ts";
import { storeToken } from "../../src/accounts/tokens/tokens.ts";
import { lockMirror } from "../../src/mirror/file/connection.ts";
import { bearerToken } from "../../src/service/credentials/credential.ts";
import { type AccountRig, dataFiles, startAccountRig } from "./support/account-rig.ts";
import { noKeychain, someTime } from "./support/facts.ts";
import { brokenKeychain, memoryKeychain } from "./support/memory-keychain.ts";

let rig: AccountRig;
beforeEach(async () => {
  rig = await startAccountRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

const remove = (name: string, purge: boolean, keychain: Keychain = noKeychain) =>
  removeAccount({ dataDir: rig.dataDir, name, purge, keychain, startedAt: someTime });

describe("removal", () => {
  it("removing an account keeps its data by default, and lists the files", async () => {
    const { folder, name } = await rig.accountWithData("ada");
    const { kept, ...removed } = await remove(name, false);
    expect(removed).toEqual({
      name,
      folder,
      wasAccount: true,
      hardLinked: [],
      remainingCatalogue: null,
      remainingToken: null,
    });
    expect([...kept].sort()).toEqual(["media", ...dataFiles].sort());
    expect(listAccountNames(rig.dataDir)).toEqual([]);
    expect(listRemovedAccounts(rig.dataDir).map((removed) => removed.name)).toEqual(["ada"]);
  });

  it("removing an account with --purge overwrites and removes all its files", async () => {
    const { folder } = await rig.accountWithData("ada");
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["account.json", "token", ...dataFiles, "avatar.png"]),
    );
    // Keeps the content readable after the removal.
    const witnesses = files.map(({ parentPath, name }) => openSync(join(parentPath, name), "r"));
    expect(await remove("ada", true)).toEqual({
      ...{ name: "ada", folder, wasAccount: true, kept: [], hardLinked: [] },
      ...{ remainingCatalogue: null, remainingToken: null },
    });
    expect(existsSync(folder)).toBe(false);
    for (const [n, witness] of witnesses.entries()) {
      const bytes = readFileSync(witness);
      closeSync(witness);
      expect(bytes.length, files[n]?.name).toBeGreaterThan(0);
      expect(
        bytes.every((byte) => byte === 0),
        files[n]?.name,
      ).toBe(true);
    }
  });

  it("removing an account overwrites a temporary account file that a killed command left", async () => {
    const { accountFile } = await rig.accountWithData("ada");
    const left = `${accountFile}.new`;
    writeFileSync(left, "settings");
    const witness = openSync(left, "r");
    await remove("ada", false);
    expect(readFileSync(witness).equals(Buffer.alloc("settings".length))).toBe(true);
    closeSync(witness);
  });

  it("removing an account leaves hard links to its files unchanged, and names the files", async () => {
    const { mirrorFile } = await rig.accountWithData("ada");
    const content = readFileSync(mirrorFile);
    const copy = `${rig.dataDir}-copy`;
    linkSync(mirrorFile, copy);
    expect(await remove("ada", true)).toMatchObject({ kept: [], hardLinked: [mirrorFile] });
    expect(existsSync(mirrorFile)).toBe(false);
    expect(readFileSync(copy).equals(content)).toBe(true);
  });

  it("removing an account leaves a hard link to its token unchanged, and names the file", async () => {
    const { account } = await rig.keep("ada", "canary-1");
    const copy = `${rig.dataDir}-copy`;
    linkSync(account.tokenFile, copy);
    expect(await remove("ada", false)).toMatchObject({ hardLinked: [account.tokenFile] });
    expect(existsSync(account.tokenFile)).toBe(false);
    expect(readFileSync(copy, "utf8").trim()).toBe("canary-1");
    rmSync(copy);
  });

  // Other systems refuse such names.
  it.runIf(process.platform === "linux")(
    "removing an account removes files whose names are not UTF-8",
    async () => {
      const { folder } = await rig.accountWithData("ada");
      const inFolder = (...parts: readonly string[]) => Buffer.from(join(folder, ...parts), "latin1");
      mkdirSync(inFolder("media", "\xff"));
      for (const name of [inFolder("media", "\xff", "a\xfe"), inFolder("b\xff")]) writeFileSync(name, "x");
      expect(await remove("ada", true)).toMatchObject({ kept: [], hardLinked: [] });
      expect(existsSync(folder)).toBe(false);
    },
  );

  it("removing an account does not touch the target of a symbolic link", async () => {
    const { folder } = await rig.accountWithData("ada");
    const otherFolder = `${rig.dataDir}-other`;
    mkdirSync(otherFolder);
    writeFileSync(join(otherFolder, "file"), "of another user");
    symlinkSync(otherFolder, join(folder, "media/folder"));
    symlinkSync(join(otherFolder, "file"), join(folder, "file"));
    await remove("ada", true);
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync(join(otherFolder, "file"), "utf8")).toBe("of another user");
  });

  it("an account whose pictures are behind a symbolic link is refused, so that none stays", async () => {
    const { folder } = await rig.accountWithData("ada");
    const elsewhere = `${rig.dataDir}-pictures`;
    renameSync(join(folder, "media"), elsewhere);
    symlinkSync(elsewhere, join(folder, "media"));
    await expect(remove("ada", true)).rejects.toMatchObject({ code: "unsafe" });
    expect(readdirSync(elsewhere)).toEqual(["avatar.png"]);
  });

  it("an account's folder is private after each use", async () => {
    const { folder } = await rig.accountWithData("ada");
    chmodSync(folder, 0o755);
    readAccount(rig.dataDir, "ada");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("removing an account does not change other accounts", async () => {
    await rig.accountWithData("ada");
    const { folder } = await rig.accountWithData("eve");
    await remove("ada", true);
    expect(listAccountNames(rig.dataDir)).toEqual(["eve"]);
    expect(readdirSync(folder).sort()).toEqual(["account.json", ...dataFiles, "media", "token"].sort());
  });

  it("removing an account deletes its token from the keychain", async () => {
    const keychain = memoryKeychain();
    await rig.keep("ada", "canary-1", keychain);
    await rig.keep("eve", "canary-2", keychain);
    expect(await remove("ada", false, keychain)).toMatchObject({ remainingToken: null });
    expect([...keychain.secrets.values()]).toEqual(["canary-2"]);
  });

  it("removing an account deletes an earlier token from the keychain when the current one is in a file", async () => {
    const keychain = memoryKeychain();
    const { account } = await rig.keep("ada", "canary-1", keychain);
    expect(await storeToken(rig.dataDir, account, bearerToken("canary-2"), noKeychain)).toMatchObject({
      account: { tokenIn: "file" },
    });
    expect(await remove("ada", false, keychain)).toMatchObject({ remainingToken: null });
    expect(keychain.secrets.size).toBe(0);
  });

  it("removing an account reports that an unavailable keychain may still have an earlier token", async () => {
    const { account } = await rig.keep("ada", "canary-1", memoryKeychain());
    await rig.keep("ada", "canary-2");
    const { remainingToken } = await remove("ada", false);
    expect(remainingToken).toMatchObject({ why: "there is none" });
    expect(existsSync(account.tokenFile)).toBe(false);
  });

  it("removing an account succeeds if the keychain cannot delete the token, and reports its entry", async () => {
    const { account } = await rig.keep("ada", "canary-1", memoryKeychain());
    const { remainingToken } = await remove("ada", true, brokenKeychain("it is locked"));
    expect(remainingToken).toEqual({ entry: account.keychainEntry, why: "it is locked" });
    expect(existsSync(account.folder)).toBe(false);
  });

  it("removing an account succeeds if account.json is damaged, and reports that a token may remain", async () => {
    const { accountFile, folder } = await rig.accountWithData("ada");
    writeFileSync(accountFile, "{");
    expect((await remove("ada", true)).remainingToken).toMatchObject({ entry: null });
    expect(existsSync(folder)).toBe(false);
  });

  it("removing an account completes an earlier removal", async () => {
    const { folder } = await rig.accountWithData("ada");
    await remove("ada", false);
    await remove("ada", true);
    expect(existsSync(folder)).toBe(false);
    await expect(remove("ada", true)).rejects.toMatchObject({ code: "unknown" });
  });
});

describe("locks", () => {
  it("an account is not removed while another process writes the mirror", async () => {
    const { mirrorFile, folder } = await rig.accountWithData("ada");
    const lock = lockMirror(mirrorFile, someTime);
    const before = readdirSync(folder).sort();
    await expect(remove("ada", true)).rejects.toMatchObject({ code: "locked" });
    expect(readdirSync(folder).sort()).toEqual(before);
    lock.release();
    expect(await remove("ada", true)).toMatchObject({ kept: [] });
  });

  it("an account is not removed while another process adds or removes an account", async () => {
    const { folder } = await rig.accountWithData("ada");
    const lock = lockAccounts(rig.dataDir, someTime);
    await expect(remove("ada", true)).rejects.toMatchObject({
      code: "locked",
      message: expect.stringMatching(new RegExp(`by process ${process.pid} on `)),
    });
    lock.release();
    expect(existsSync(join(folder, "token"))).toBe(true);
  });
});
