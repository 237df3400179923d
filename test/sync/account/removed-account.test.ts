/** An account that another process removes after a command has read it: nothing of it comes back. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import type { Account } from "../../../src/accounts/account.ts";
import { requireSameAccount } from "../../../src/accounts/accounts.ts";
import { removeAccount } from "../../../src/accounts/remove-account.ts";
import { readToken } from "../../../src/accounts/tokens/tokens.ts";
import { createBackup } from "../../../src/archive/create.ts";
import { restoreBackup } from "../../../src/archive/restore.ts";
import { diagnose } from "../../../src/doctor/diagnose.ts";
import { userOf } from "../../../src/mirror/account/user.ts";
import { lockPlace } from "../../../src/mirror/file/create-mirror.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { bearerToken, type Credential } from "../../../src/service/credentials/credential.ts";
import { addAccount } from "../../../src/sync/add-account.ts";
import { type SyncOptions, sync } from "../../../src/sync/sync.ts";
import { noKeychain, someTime } from "../../accounts/support/facts.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let dataDir: string;
let token: Credential;
let account: Account;

const add = () => addAccount({ dataDir, name: "ada", baseUrl: sandbox.url, token, keychain: noKeychain });

beforeAll(async () => {
  sandbox = await startSandbox({ brands: 1, models: 1, sizes: 1, users: 1, allowance: 4000 });
});
afterAll(() => sandbox.close());
beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
  token = bearerToken(sandbox.users[0]?.token ?? "");
  account = (await add()).account;
});
afterEach(() => folder[Symbol.asyncDispose]());

const remove = (purge: boolean) =>
  removeAccount({ dataDir, name: "ada", purge, keychain: noKeychain, startedAt: someTime });

function syncAsRead(more: Partial<SyncOptions> = {}) {
  const { mirrorFile: file, baseUrl, ledgerFile } = account;
  const user = userOf(account);
  return sync({ file, baseUrl, ledgerFile, credential: token, user, area: "account", account, ...more });
}

const removed = { code: "unknown", message: "The account ada was removed by another command." };

describe("sync", () => {
  it.each([true, false])(
    "requests nothing and creates nothing after the removal of its account: synced before: %s",
    async (isSynced) => {
      if (isSynced) await syncAsRead();
      await remove(true);
      sandbox.clearLog();
      await expect(syncAsRead()).rejects.toMatchObject(removed);
      expect(existsSync(account.folder)).toBe(false);
      expect(sandbox.log()).toEqual([]);
    },
  );

  it("does not change the data that a removed account left", async () => {
    await syncAsRead();
    await remove(false);
    const before = readFileSync(account.mirrorFile);
    sandbox.clearLog();
    await expect(syncAsRead()).rejects.toMatchObject(removed);
    expect(readFileSync(account.mirrorFile).equals(before)).toBe(true);
    expect(sandbox.log()).toEqual([]);
  });

  it("leaves a later account of the same name alone", async () => {
    await remove(true);
    await add();
    await expect(syncAsRead()).rejects.toMatchObject(removed);
    expect(existsSync(account.mirrorFile)).toBe(false);
  });
});

describe("other commands", () => {
  it("a restore does not bring a removed account back", async () => {
    await syncAsRead();
    const { file } = await createBackup({ mirror: account.mirrorFile, account: "ada", to: folder.path });
    await remove(true);
    const { baseUrl, mirrorFile: mirror } = account;
    const place = { of: { baseUrl, user: userOf(account) }, requirePlace: () => requireSameAccount(account) };
    const restored = restoreBackup({ file, mirror, kinds, openedAt: someTime, ...place });
    await expect(restored).rejects.toMatchObject(removed);
    expect(existsSync(account.folder)).toBe(false);
  });

  it("doctor does not check the token of a removed account", async () => {
    await remove(true);
    sandbox.clearLog();
    const { baseUrl, ledgerFile } = account;
    const checks = await diagnose({
      ...{ dataDir, baseUrl, ledgerFile, account, credential: token, mirrorFiles: null },
    });
    expect(checks.at(-1)).toMatchObject({ isOk: false, message: removed.message });
    expect(existsSync(account.folder)).toBe(false);
    expect(sandbox.log()).toEqual([]);
  });

  it.each([true, false])(
    "the token of a removed account is not called missing: purged: %s",
    async (purge) => {
      await remove(purge);
      await expect(readToken(account, noKeychain)).rejects.toMatchObject(removed);
    },
  );

  it("the token of an account that is being removed is not called missing", async () => {
    let read: Promise<unknown> = Promise.resolve();
    const keychain = {
      ...noKeychain,
      delete: (entry: string) => {
        // The token file is erased, and account.json is not removed yet.
        read = readToken(account, noKeychain);
        read.catch(() => {});
        return noKeychain.delete(entry);
      },
    };
    await removeAccount({ dataDir, name: "ada", purge: true, keychain, startedAt: someTime });
    await expect(read).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining("An account is being added or removed"),
    });
  });

  it("a mirror that must exist is not created", async () => {
    const { mirrorFile: file, baseUrl } = account;
    const identity = { baseUrl, area: "account", serviceName: "service" } as const;
    const before = readdirSync(account.folder);
    const opened = openMirrorWriter({ file, identity, kinds, openedAt: someTime, mustExist: true });
    await expect(opened).rejects.toMatchObject({ code: "not-found" });
    expect(readdirSync(account.folder)).toEqual(before);
  });
});

describe("removal at the same moment", () => {
  /** Removes an account right after the first check found it. */
  const removeAfterCheck = (remove: () => void) => {
    let isChecked = false;
    return () => {
      requireSameAccount(account);
      if (!isChecked) remove();
      isChecked = true;
    };
  };

  it.each([
    ["the folder is gone", () => rmSync(account.folder, { recursive: true })],
    [
      "the folder is still empty",
      () => readdirSync(account.folder).forEach((name) => void rmSync(join(account.folder, name))),
    ],
  ])("leaves no lock and no folder: %s", (_, remove) => {
    const place = { file: account.mirrorFile, openedAt: someTime, requirePlace: removeAfterCheck(remove) };
    expect(() => lockPlace(place)).toThrow(removed.message);
    expect(existsSync(account.folder)).toBe(false);
  });
});
