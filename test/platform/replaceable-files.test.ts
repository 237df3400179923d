import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { accountPlace, accountsFolder } from "../../src/accounts/account.ts";
import { catalogueMirrorFile } from "../../src/mirror/file/paths.ts";
import { mediaFile } from "../../src/mirror/media/media-files.ts";
import { temporaryNameOf } from "../../src/platform/atomic-file.ts";
import { FileError } from "../../src/platform/errors.ts";
import {
  requireNotOwn,
  requireNotOwnFolder,
  requireOutsideOwnFolders,
  requireReplaceable,
} from "../../src/platform/files/replaceable-files.ts";
import { schedulePaths } from "../../src/schedule/schedule.ts";
import { accountWorld } from "../archive/support/account-world.ts";
import { startBackupRig } from "../archive/support/backup-rig.ts";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { callArmoire, runArmoire, temporaryFolder } from "../support/run-armoire.ts";

let data = "";
beforeAll(async () => {
  const temporary = await temporaryFolder();
  data = join(temporary.path, "data");
  mkdirSync(join(data, "accounts", "ada"), { recursive: true });
  return () => temporary[Symbol.asyncDispose]();
});

function ownFiles(): string[] {
  const { folder: _, ...account } = accountPlace(data, "ada");
  const { schedulesFile, runsFolder, changeLock, runLock } = schedulePaths(data);
  const mirror = join(data, "host-12345678", "catalogue.sqlite");
  const ledger = join(data, "ledger.sqlite");
  const databases = [mirror, account.mirrorFile, account.ledgerFile, ledger];
  const locked = [...databases, changeLock, runLock, join(accountsFolder(data), "accounts")];
  const replaced = [account.accountFile, account.tokenFile, account.newestBackupFile, schedulesFile];
  return [
    ...Object.values(account),
    ...replaced.map(temporaryNameOf),
    ...databases.flatMap((file) => ["-wal", "-shm", "-journal", "-wal.orphan-1"].map((end) => file + end)),
    ...locked.flatMap((file) => [`${file}.lock`, `${file}.holder.json`]),
    ...[schedulesFile, ledger],
    join(runsFolder, "nightly.json"),
    mediaFile(account.mirrorFile, { sha256: "0".repeat(64), type: "image/png" }),
  ];
}

it.each([
  ["", "accounts", "Accounts", "schedule-runs", "host-12345678", "host-12345678/media"],
  ["accounts/x.csv", "accounts/ada/x.csv", "schedule-runs/daily.json", "host-12345678/media/x.csv"],
])("own folders of a data directory are refused before they exist", (...places) => {
  const folder = join(data, "..", "new");
  for (const place of places)
    expect(refusalOf(join(folder, place), (path) => requireOutsideOwnFolders(path, folder))).toEqual(refusal);
});

it("other places in a data directory, and beside it, may be named for output", () => {
  const folder = join(data, "..", "new");
  const places = [
    "x.csv",
    "exports/accounts",
    "host-12345678/catalogue.csv",
    "host-1234/media",
    "../new2",
    "..",
  ];
  for (const place of places)
    expect(refusalOf(join(folder, place), (path) => requireOutsideOwnFolders(path, folder))).toBeNull();
  expect(refusalOf(data, (path) => requireOutsideOwnFolders(path, data))).toBeNull();
});

const refusal = expect.objectContaining({ code: "not-replaceable", kind: "usage" });

function refusalOf(path: string, rule: (path: string) => void): unknown {
  try {
    rule(path);
    return null;
  } catch (error) {
    return error instanceof FileError ? error : null;
  }
}

describe("names", () => {
  it("no output goes to the place of one of Armoire's own files, whether it exists or not", () => {
    for (const file of ownFiles()) {
      expect(refusalOf(file, requireReplaceable), file).toEqual(refusal);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "own");
      expect(refusalOf(file, requireReplaceable), file).toEqual(refusal);
    }
  });

  it("no output but a mirror goes to the place of a catalogue's mirror, which does not exist yet", () => {
    const place = catalogueMirrorFile(data, "https://api.example.org/");
    expect(refusalOf(place, requireReplaceable)).toEqual(refusal);
    expect(refusalOf(place, requireNotOwn)).toBeNull();
    expect(refusalOf(join(data, "catalogue.sqlite"), requireReplaceable)).toBeNull();
  });

  it("a link to the folder of an account, and capital letters, do not hide its files", () => {
    const link = join(data, "link");
    symlinkSync(join(data, "accounts", "ada"), link);
    for (const name of ["token", "TOKEN", "Account.json"])
      expect(refusalOf(join(link, name), requireNotOwn), name).toEqual(refusal);
  });

  it("the files that SQLite writes beside any database are not replaced", () => {
    const file = join(data, "other.db");
    const db = new Database(file);
    db.exec("create table t (c)");
    db.close();
    expect(refusalOf(`${file}-journal`, requireReplaceable)).toEqual(refusal);
  });

  it.each(["PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"])(
    "a private key is not replaced: %s",
    (name) => {
      const file = join(data, "publisher.pem");
      writeFileSync(file, `-----BEGIN ${name}-----\nMC4C\n-----END ${name}-----\n`);
      expect(refusalOf(file, requireReplaceable)).toEqual(refusal);
      const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
      const bundle = `# of the publisher\n${certificate}-----BEGIN ${name}-----\n`;
      for (const content of [bundle, Buffer.from(bundle, "utf16le")]) {
        writeFileSync(file, content);
        expect(refusalOf(file, requireReplaceable)).toEqual(refusal);
      }
      writeFileSync(file, "-----BEGIN PUBLIC KEY-----\n");
      expect(refusalOf(file, requireReplaceable)).toBeNull();
    },
  );

  it("a file is not replaced while SQLite would read another one together with it", () => {
    for (const end of ["-wal", "-shm", "-journal"]) {
      const file = join(data, `exported${end}.db`);
      writeFileSync(file + end, "");
      expect(refusalOf(file, requireReplaceable), end).toEqual(refusal);
    }
  });

  it.each(["brands.csv", "token", "account.json.csv", "my-journal", "prices-wal", "media/front.png"])(
    "a file with another name or in another folder is replaced: %s",
    (name) => {
      const file = join(data, "exports", name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "earlier");
      expect(() => requireReplaceable(file)).not.toThrow();
    },
  );
});

describe("folders", () => {
  /** A data directory with an account, pictures and a schedule; every folder in it that is Armoire's own. */
  async function startOwnFolders() {
    const rig = await startBackupRig();
    crawl(rig.mirror, accountWorld());
    const dataDir = join(rig.folder, "data");
    const { folder, accountFile, mirrorFile } = accountPlace(dataDir, "ada");
    const { schedulesFile, runsFolder } = schedulePaths(dataDir);
    mkdirSync(folder, { recursive: true });
    writeFileSync(accountFile, "{}");
    writeFileSync(schedulesFile, "[]");
    copyFileSync(rig.file, mirrorFile);
    mkdirSync(join(folder, "media"));
    symlinkSync(join(folder, "media"), join(rig.folder, "link"));
    const folders = [
      ...[accountsFolder(dataDir), accountPlace(dataDir, "new").folder, folder, join(folder, "exports")],
      ...[join(folder, "media"), join(rig.folder, "media"), join(rig.folder, "link"), runsFolder],
    ];
    return { ...rig, dataDir, folders };
  }

  it("no folder of Armoire's own receives an export, a backup or the files of one", async () => {
    await using rig = await startOwnFolders();
    await rig.create("a.zip");
    const before = readdirSync(rig.folder, { recursive: true }).sort();
    for (const folder of rig.folders) {
      expect(refusalOf(folder, requireNotOwnFolder), folder).toEqual(refusal);
      expect(refusalOf(folder, requireNotOwn), folder).toEqual(refusal);
      const commands = [
        ["export", "--mirror", rig.file, "--out", folder],
        ["backup", "create", "--mirror", rig.file, "--to", folder],
        ["backup", "create", "--mirror", rig.file, "--to", join(folder, "b.zip")],
        ["backup", "restore", rig.path("a.zip"), "--to", folder],
        ["backup", "restore", rig.path("a.zip"), "--mirror", join(folder, "new.sqlite")],
        ["sync", "--base-url", "http://127.0.0.1:1", "--mirror", join(folder, "new.sqlite")],
        ["snapshot", "load", rig.path("a.zip"), "--mirror", join(folder, "new.sqlite")],
        ["sync", "--base-url", "http://127.0.0.1:1", "--metrics-file", join(folder, "new.prom")],
      ];
      for (const command of commands) {
        // A backup goes only into a folder that exists.
        if (command[1] === "create" && !existsSync(folder)) continue;
        const { exitCode, stderr } = await callArmoire([...command, "--data-dir", rig.dataDir]);
        expect([exitCode, stderr], command.join(" ")).toEqual([2, expect.stringContaining("own folders")]);
      }
    }
    expect(readdirSync(rig.folder, { recursive: true }).sort()).toEqual(before);
  });

  it.each(["ledger.sqlite", "schedules.json"])("no mirror and no folder gets the name %s", async (name) => {
    await using rig = await startOwnFolders();
    await rig.create("a.zip");
    const place = join(rig.dataDir, "elsewhere", name);
    for (const command of [
      ["backup", "restore", rig.path("a.zip"), "--mirror", place],
      ["backup", "restore", rig.path("a.zip"), "--to", place],
      ["sync", "--base-url", "http://127.0.0.1:1", "--mirror", place],
      ["snapshot", "load", rig.path("a.zip"), "--mirror", place],
    ]) {
      const { exitCode, stderr } = await callArmoire([...command, "--data-dir", rig.dataDir]);
      expect([exitCode, stderr], command.join(" ")).toEqual([2, expect.stringContaining("Armoire's own")]);
    }
    expect(existsSync(place)).toBe(false);
  });

  it("the folder of accounts beside a ledger is refused before there is an account", async () => {
    await using folder = await temporaryFolder();
    const accounts = accountsFolder(folder.path);
    requireNotOwnFolder(accounts);
    writeFileSync(join(folder.path, "ledger.sqlite"), "");
    expect(() => requireNotOwnFolder(accounts)).toThrow(FileError);
    expect(() => requireNotOwnFolder(join(accounts, "ada"))).toThrow(FileError);
  });

  it.each(["exports", "media", "accounts", "schedule-runs", "accounts/ada"])(
    "a folder of that name elsewhere may be written: %s",
    async (name) => {
      await using temporary = await temporaryFolder();
      expect(() => requireNotOwnFolder(join(temporary.path, name))).not.toThrow();
    },
  );
});

describe("commands", () => {
  it.each([
    ["sync", "--metrics-file"],
    ["schedule", "run", "--heartbeat"],
    ["worker", "--redis", "redis://127.0.0.1:1", "--heartbeat"],
  ])("a file of Armoire's own is refused before anything starts: %s %s %s", async (...args) => {
    await using temporary = await temporaryFolder();
    const token = accountPlace(temporary.path, "ada").tokenFile;
    mkdirSync(dirname(token), { recursive: true, mode: 0o700 });
    writeFileSync(token, "canary-token", { mode: 0o600 });
    const missing = `${schedulePaths(temporary.path).runLock}.lock`;
    const placeOfMirror = join(temporary.path, "127.0.0.1-1-00000000", "catalogue.sqlite");
    const env = { ARMOIRE_DATA_DIR: temporary.path, ARMOIRE_BASE_URL: "http://127.0.0.1:1" };
    for (const file of [token, missing, placeOfMirror]) {
      const { exitCode, stdout, stderr } = await runArmoire([...args, file], { env });
      expect([exitCode, stdout, stderr]).toEqual([
        2,
        "",
        `armoire: ${file} is the place of one of Armoire's own files.\nNothing was written there. Give another name.\n`,
      ]);
    }
    expect([readFileSync(token, "utf8"), existsSync(missing)]).toEqual(["canary-token", false]);
  });
});
