/** Reading and recording accounts, and the files that are refused. */
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  findAccount,
  findReadableAccount,
  listAccountNames,
  listAccounts,
  listRemovedAccounts,
  readAccount,
} from "../../src/accounts/accounts.ts";
import { ArmoireError, FileError } from "../../src/platform/errors.ts";
import { expectSecretIn } from "../support/canary.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { type AccountRig, startAccountRig } from "./support/account-rig.ts";

let rig: AccountRig;
beforeEach(async () => {
  rig = await startAccountRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

function errorOf(act: () => unknown): ArmoireError {
  try {
    act();
  } catch (error) {
    if (error instanceof ArmoireError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

describe("one account", () => {
  it("an account is read as it was recorded, with its paths", async () => {
    const account = await rig.account("ada");
    expect(readAccount(rig.dataDir, "ada")).toEqual(account);
    expect(account).toMatchObject({
      folder: join(rig.dataDir, "accounts/ada"),
      mirrorFile: join(rig.dataDir, "accounts/ada/mirror.sqlite"),
      ledgerFile: join(rig.dataDir, "accounts/ada/ledger.sqlite"),
    });
  });

  it("only the owner may access an account's folders and files, whatever the umask", async () => {
    const umask = process.umask(0);
    try {
      const { folder, accountFile, tokenFile } = await rig.account("ada");
      const folders = [rig.dataDir, join(rig.dataDir, "accounts"), folder];
      expect([...folders, accountFile, tokenFile].map(modeOf)).toEqual(["700", "700", "700", "600", "600"]);
    } finally {
      process.umask(umask);
    }
  });

  it("the folder of an account becomes private again if others could read it", async () => {
    const { folder } = await rig.account("ada");
    chmodSync(folder, 0o755);
    await rig.account("ada");
    expect(modeOf(folder)).toBe("700");
  });

  it("the error for an unknown account suggests a similar name", async () => {
    expect(errorOf(() => readAccount(rig.dataDir, "ada"))).toMatchObject({
      code: "unknown",
      hint: expect.stringMatching(/account list.*account add NAME/),
    });
    expect(findAccount(rig.dataDir, "ada")).toBeNull();
    await rig.account("ada");
    expect(errorOf(() => readAccount(rig.dataDir, "adda")).hint).toMatch(/^Did you mean ada\?/);
  });

  it("an account of a later version is refused and not changed", async () => {
    const { accountFile } = await rig.account("ada");
    const later = JSON.stringify({ version: 2, owner: "ada" });
    writeFileSync(accountFile, later);
    expect(errorOf(() => findReadableAccount(rig.dataDir, "ada")).code).toBe("newer");
    expect(readFileSync(accountFile, "utf8")).toBe(later);
  });

  it.each(["", "{", "null", "[]", "{}", '{"version":1,"name":"ada"}', "\0".repeat(500)])(
    "an account whose file is %j is damaged",
    async (content) => {
      const { accountFile } = await rig.account("ada");
      writeFileSync(accountFile, content);
      expect(errorOf(() => readAccount(rig.dataDir, "ada"))).toMatchObject({
        code: "damaged",
        hint: expect.stringMatching(/account add/),
      });
      expect(findReadableAccount(rig.dataDir, "ada")).toBeNull();
    },
  );

  it("an account in the folder of another name is refused", async () => {
    const { folder } = await rig.account("ada");
    renameSync(folder, join(rig.dataDir, "accounts/eve"));
    expect(errorOf(() => readAccount(rig.dataDir, "eve")).message).toMatch(/belongs to another account/);
  });
});

describe("listing", () => {
  it("the list of accounts is empty without a data directory", () => {
    expect([listAccounts(rig.dataDir), listRemovedAccounts(rig.dataDir)]).toEqual([[], []]);
  });

  it("the list of accounts is sorted by name, without folders that are not accounts", async () => {
    for (const name of ["eve", "ada"]) await rig.account(name);
    mkdirSync(join(rig.dataDir, "accounts/Not An Account"));
    writeFileSync(join(rig.dataDir, "accounts/notes"), "");
    expect(listAccounts(rig.dataDir).map(({ name }) => name)).toEqual(["ada", "eve"]);
  });

  it("the list of accounts does not include the folders of removed accounts", async () => {
    await rig.account("ada");
    mkdirSync(join(rig.dataDir, "accounts/eve"));
    expect(listAccountNames(rig.dataDir)).toEqual(["ada"]);
    expect(listRemovedAccounts(rig.dataDir).map(({ name }) => name)).toEqual(["eve"]);
  });
});

describe.skipIf(process.platform === "win32")("unsafe files and folders", () => {
  async function expectUnsafe(path: string, message: RegExp): Promise<void> {
    const refused = { code: "unsafe", message: expect.stringMatching(message) };
    expect(errorOf(() => readAccount(rig.dataDir, "ada"))).toMatchObject(refused);
    await expect(rig.account("ada", "canary-another")).rejects.toMatchObject(refused);
    expect(errorOf(() => readAccount(rig.dataDir, "ada")).message).toContain(path);
  }

  it.each(["", "accounts", "accounts/ada"])("a folder that others may write to (%j)", async (below) => {
    await rig.account("ada");
    const path = join(rig.dataDir, below);
    for (const mode of [0o720, 0o702, 0o1777]) {
      chmodSync(path, mode);
      await expectUnsafe(path, /^Other users may write to/);
    }
    expect(errorOf(() => readAccount(rig.dataDir, "ada")).hint).toBe(`Run: chmod go-w '${path}'`);
    chmodSync(path, 0o700);
    expect(readAccount(rig.dataDir, "ada").name).toBe("ada");
  });

  it("a parent folder in which others may rename the data directory, also behind a link", async () => {
    await rig.account("ada");
    const above = join(rig.dataDir, "..");
    const link = await temporaryFolder();
    try {
      symlinkSync(rig.dataDir, join(link.path, "data"));
      const readBoth = () =>
        [rig.dataDir, join(link.path, "data")].map((dataDir) => readAccount(dataDir, "ada").name);
      for (const mode of [0o702, 0o777]) {
        chmodSync(above, mode);
        await expectUnsafe(above, /^Other users may write to the folder .* and so replace/);
        expect(errorOf(readBoth)).toMatchObject({ code: "unsafe" });
        expect(errorOf(() => readAccount(join(link.path, "data"), "ada")).message).toContain(above);
      }
      for (const mode of [0o1777, 0o755, 0o700]) {
        chmodSync(above, mode);
        expect(readBoth()).toEqual(["ada", "ada"]);
      }
      chmodSync(link.path, 0o777);
      expect(errorOf(readBoth).message).toContain(link.path);
    } finally {
      chmodSync(above, 0o700);
      await link[Symbol.asyncDispose]();
    }
  });

  it("a folder above that the owner's group may write to: the bits are also those of an access control list", async () => {
    await rig.account("ada");
    const above = join(rig.dataDir, "..");
    chmodSync(above, 0o770);
    await expectUnsafe(above, /^Other users may write to/);
  });

  it.runIf(process.geteuid?.() === 0).each([0o755, 0o1777])(
    "a folder above that belongs to another user, who may rename what is in it (mode %o)",
    async (mode) => {
      await rig.account("ada");
      const above = join(rig.dataDir, "..");
      chownSync(above, 1000, 1000);
      chmodSync(above, mode);
      await expectUnsafe(above, /^The folder .* belongs to another user of this machine, who could replace/);
    },
  );

  it("a link on the way in a folder that others may write to", async () => {
    await rig.account("ada");
    await using first = await temporaryFolder();
    await using second = await temporaryFolder();
    symlinkSync(join(second.path, "next"), join(first.path, "data"));
    symlinkSync(rig.dataDir, join(second.path, "next"));
    expect(readAccount(join(first.path, "data"), "ada").name).toBe("ada");
    chmodSync(second.path, 0o777);
    expect(errorOf(() => readAccount(join(first.path, "data"), "ada")).message).toContain(second.path);
  });

  it.runIf(process.geteuid?.() === 0)("a link of another user, also with the sticky bit", async () => {
    await rig.account("ada");
    await using folder = await temporaryFolder();
    const link = join(folder.path, "data");
    symlinkSync(rig.dataDir, link);
    chmodSync(folder.path, 0o1777);
    expect(readAccount(link, "ada").name).toBe("ada");
    lchownSync(link, 1000, 1000);
    expect(errorOf(() => readAccount(link, "ada"))).toMatchObject({
      ...{ code: "unsafe", message: expect.stringContaining("A link in"), hint: "Use another --data-dir." },
    });
  });

  it("a link whose target leads up from behind another link, to a folder that others may write to", async () => {
    await rig.account("ada");
    await using safe = await temporaryFolder();
    await using open = await temporaryFolder();
    mkdirSync(join(open.path, "x"));
    symlinkSync(rig.dataDir, join(open.path, "y"));
    symlinkSync(join(open.path, "x"), join(safe.path, "sub"));
    symlinkSync("sub/../y", join(safe.path, "data"));
    expect(readAccount(join(safe.path, "data"), "ada").name).toBe("ada");
    chmodSync(open.path, 0o777);
    expect(errorOf(() => readAccount(join(safe.path, "data"), "ada")).message).toContain(open.path);
  });

  it("a path whose links lead in a circle", async () => {
    await using folder = await temporaryFolder();
    symlinkSync(join(folder.path, "b"), join(folder.path, "a"));
    symlinkSync(join(folder.path, "a"), join(folder.path, "b"));
    expect(errorOf(() => readAccount(join(folder.path, "a"), "ada"))).toBeInstanceOf(FileError);
  });

  it.runIf(process.geteuid?.() === 0).each(["", "accounts", "accounts/ada"])(
    "a folder of another user (%j)",
    async (below) => {
      await rig.account("ada");
      const path = join(rig.dataDir, below);
      chownSync(path, 65_534, 65_534);
      await expectUnsafe(path, /belongs to another user/);
    },
  );

  it.each(["accounts", "accounts/ada"])("a symbolic link in place of a folder (%s)", async (below) => {
    const { tokenFile } = await rig.account("ada");
    const path = join(rig.dataDir, below);
    const target = `${rig.dataDir}-elsewhere`;
    renameSync(path, target);
    expectSecretIn(join(target, relative(path, tokenFile)));
    symlinkSync(target, path);
    const before = statSync(target).mtimeMs;
    await expectUnsafe(path, /is a symbolic link, which is not followed/);
    expect(statSync(target).mtimeMs).toBe(before);
  });

  it.each(["mirror.sqlite", "ledger.sqlite"])("a symbolic link in place of %s", async (file) => {
    const { folder } = await rig.account("ada");
    symlinkSync("/etc/hostname", join(folder, file));
    await expectUnsafe(join(folder, file), /is a symbolic link/);
  });

  it("a symbolic link in place of account.json", async () => {
    const { accountFile } = await rig.account("ada");
    renameSync(accountFile, `${rig.dataDir}-account.json`);
    symlinkSync(`${rig.dataDir}-account.json`, accountFile);
    expect(errorOf(() => readAccount(rig.dataDir, "ada")).message).toMatch(/account\.json \(ELOOP\)/);
    expect(readFileSync(`${rig.dataDir}-account.json`, "utf8")).toContain('"ada"');
  });

  it("a link to a missing folder, without creating that folder", async () => {
    mkdirSync(rig.dataDir, { mode: 0o700 });
    const target = `${rig.dataDir}-elsewhere`;
    mkdirSync(target);
    symlinkSync(target, join(rig.dataDir, "accounts"));
    await expect(rig.account("ada")).rejects.toMatchObject({ code: "unsafe" });
    expect(readdirSync(target)).toEqual([]);
  });
});
