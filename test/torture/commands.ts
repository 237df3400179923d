/** The commands that are tortured: what each finds, and what it must have done at the end. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { accountPlace } from "../../src/accounts/account.ts";
import { readState } from "../../src/archive/published/state.ts";
import { catalogueMirrorFile } from "../../src/mirror/file/paths.ts";
import { mediaFolder } from "../../src/mirror/media/media-files.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import type { UserEdit } from "../../src/sandbox/accounts/users.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { canonicalDump } from "../support/canonical-dump.ts";
import { callArmoire } from "../support/run-armoire.ts";

/** Where a command runs. All that it may write is below `root`. */
export interface Place {
  readonly root: string;
  readonly dataDir: string;
  readonly baseUrl: string;
  /** Outside the root. */
  readonly tokenFile: string;
}

export interface TortureCommand {
  readonly name: string;
  /** Null for the migration, which is a program of its own. */
  readonly args: ((place: Place) => readonly string[]) | null;
  readonly world?: SandboxOptions;
  /** Makes what the command finds. */
  readonly prepare: (place: Place, sandbox: Sandbox) => Promise<void>;
  /** Changes the service after the preparation. */
  readonly edit?: (sandbox: Sandbox) => void;
  /** What the command is for, in a form that is equal for equal results; null if there is nothing. */
  readonly read: (place: Place) => unknown;
  /** Whether a disturbed command leaves the state before or after it, or nothing; never a part. */
  readonly isAtomic: boolean;
  /** The mirrors that must be sound at any time. */
  readonly mirrors: (place: Place) => readonly string[];
  /** Whether every stored revision must survive. */
  readonly keepsRevisions: boolean;
  /** The error of a repetition that has nothing left to do. */
  readonly doneBefore?: RegExp;
}

/** Fewer than the requests from which on batches may linger, so that a kill costs only running requests. */
const allowance = 4_000;
const world: SandboxOptions = { brands: 3, models: 7, sizes: 16, allowance, users: 2, pictures: "here" };

const call = async (...args: string[]) => {
  const { exitCode, stderr } = await callArmoire(args);
  if (exitCode !== 0) throw new Error(`armoire ${args.join(" ")}: ${exitCode}: ${stderr}`);
};
const at = ({ dataDir, baseUrl }: Place) => ["--data-dir", dataDir, "--base-url", baseUrl];
const within = ({ dataDir }: Place) => ["--data-dir", dataDir];

const syncCatalogue = (place: Place) => call("sync", ...at(place), "--quiet");
const addAccount = (place: Place) =>
  call("account", "add", "ada", "--token-file", place.tokenFile, ...at(place), "--quiet");
const syncAccount = (place: Place) =>
  call("sync", "--account", "ada", "--media", ...within(place), "--quiet");

const catalogueOf = ({ dataDir, baseUrl }: Place) => catalogueMirrorFile(dataDir, baseUrl);
const accountOf = ({ dataDir }: Place) => accountPlace(dataDir, "ada");

function readMirrorContent(file: string): unknown {
  if (!existsSync(file)) return null;
  const reader = openMirrorReader(file);
  try {
    return canonicalDump(reader);
  } finally {
    reader.close();
  }
}

const readCatalogue = (place: Place) => readMirrorContent(catalogueOf(place));
function readAccountData(place: Place): unknown {
  const { mirrorFile } = accountOf(place);
  return existsSync(mirrorFile) ? [readMirrorContent(mirrorFile), readFiles(mediaFolder(mirrorFile))] : null;
}

/** Name to content; null if there is no folder. */
function readFiles(folder: string): unknown {
  if (!existsSync(folder)) return null;
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "latin1")]),
  );
}

const readFile = (file: string) => (existsSync(file) ? readFileSync(file, "latin1") : null);

const change = (sandbox: Sandbox) =>
  void sandbox.advance({ changes: 6, additions: 3, removals: 1, moves: 1 });

/** The user of the token. */
const editUser = (sandbox: Sandbox, edit: UserEdit) =>
  sandbox.editUser(sandbox.users[1]?.username ?? "", edit);

const exportTo = (place: Place) => ["export", "--out", join(place.root, "out"), ...at(place)];
const exported = (place: Place) => readFiles(join(place.root, "out"));
const backupFile = (place: Place) => join(place.root, "ada.zip");
const createBackup = (place: Place) => [
  "backup",
  "create",
  "--account",
  "ada",
  "--to",
  backupFile(place),
  ...within(place),
];

const publicFolder = (place: Place) => join(place.root, "public");
const publish = (place: Place) => [
  ...["snapshot", "publish", "--to", publicFolder(place), "--license", "CC0-1.0", "--increments", "1"],
  ...["--keep", "1", ...at(place)],
];
/** What a follower gets: all that the state lists. */
function readPublished(place: Place): unknown {
  const state = readState(publicFolder(place));
  if (state === null) return null;
  return [state, state.snapshots.map(({ file }) => readFile(join(publicFolder(place), file)))];
}

const ofCatalogue = { world, mirrors: (place: Place) => [catalogueOf(place)], keepsRevisions: true };
const ofAccount = { world, mirrors: (place: Place) => [accountOf(place).mirrorFile], keepsRevisions: true };

export const commands: readonly TortureCommand[] = [
  {
    name: "first sync",
    args: (place) => ["sync", ...at(place)],
    ...ofCatalogue,
    prepare: async () => {},
    read: readCatalogue,
    isAtomic: false,
  },
  {
    name: "second sync",
    args: (place) => ["sync", ...at(place)],
    ...ofCatalogue,
    // So many lists that new resources are found before all of them were checked.
    world: { ...world, brands: 10, models: 30, sizes: 60 },
    prepare: syncCatalogue,
    edit: (sandbox) => void sandbox.advance({ changes: 12, additions: 6, moves: 1 }),
    read: readCatalogue,
    isAtomic: false,
  },
  {
    name: "sync of an account with pictures",
    args: (place) => ["sync", "--account", "ada", "--media", ...within(place)],
    ...ofAccount,
    prepare: addAccount,
    read: readAccountData,
    isAtomic: false,
  },
  {
    name: "second sync of an account",
    args: (place) => ["sync", "--account", "ada", "--media", "--approve", ...within(place)],
    ...ofAccount,
    async prepare(place, sandbox) {
      editUser(sandbox, { bras: 3 });
      await addAccount(place);
      await syncAccount(place);
    },
    // New bras, a changed one, and a measurement that is gone.
    edit: (sandbox) => editUser(sandbox, { note: "too tight", measurements: 3 }),
    read: readAccountData,
    isAtomic: false,
  },
  {
    name: "export",
    args: exportTo,
    ...ofCatalogue,
    prepare: syncCatalogue,
    read: exported,
    isAtomic: true,
  },
  {
    name: "export over an earlier one",
    args: exportTo,
    ...ofCatalogue,
    async prepare(place, sandbox) {
      await syncCatalogue(place);
      await call(...exportTo(place), "--quiet");
      change(sandbox);
      await syncCatalogue(place);
    },
    read: exported,
    isAtomic: true,
  },
  {
    name: "snapshot publish",
    args: publish,
    ...ofCatalogue,
    // The next one is whole, and the earlier two are removed.
    async prepare(place, sandbox) {
      mkdirSync(publicFolder(place));
      for (let n = 0; n < 3; n++) {
        await syncCatalogue(place);
        if (n < 2) await call(...publish(place), "--quiet");
        change(sandbox);
      }
    },
    read: readPublished,
    isAtomic: true,
  },
  {
    name: "backup create",
    args: createBackup,
    ...ofAccount,
    async prepare(place) {
      await addAccount(place);
      await syncAccount(place);
    },
    read: (place) => readFile(backupFile(place)),
    isAtomic: true,
  },
  {
    name: "backup restore",
    args: (place) => ["backup", "restore", backupFile(place), "--account", "ada", ...within(place)],
    ...ofAccount,
    async prepare(place) {
      await addAccount(place);
      await syncAccount(place);
      await call(...createBackup(place), "--quiet");
      rmSync(accountOf(place).folder, { recursive: true });
      await addAccount(place);
    },
    read: readAccountData,
    isAtomic: true,
    doneBefore: /A mirror exists/,
  },
  {
    name: "mirror compact",
    args: (place) => ["mirror", "compact", ...at(place)],
    ...ofCatalogue,
    async prepare(place, sandbox) {
      await syncCatalogue(place);
      change(sandbox);
      await syncCatalogue(place);
    },
    read: readCatalogue,
    isAtomic: true,
  },
  {
    name: "mirror rebuild",
    args: (place) => ["mirror", "rebuild", ...at(place)],
    ...ofCatalogue,
    async prepare(place) {
      await syncCatalogue(place);
      const db = new Database(catalogueOf(place));
      db.exec("update _model set name = name || ' (wrong)'");
      db.close();
    },
    read: readCatalogue,
    isAtomic: true,
    mirrors: () => [],
  },
  {
    name: "migration",
    args: null,
    world,
    prepare: async (place) => writeFileSync(join(place.root, "notes.sqlite"), ""),
    read: (place) => readNotes(join(place.root, "notes.sqlite")),
    isAtomic: true,
    mirrors: () => [],
    keepsRevisions: false,
  },
  {
    name: "account add",
    args: (place) => ["account", "add", "ada", "--token-file", place.tokenFile, ...at(place)],
    world,
    prepare: async () => {},
    read: readAccountFiles,
    isAtomic: false,
    mirrors: () => [],
    keepsRevisions: false,
  },
  {
    name: "account remove --purge",
    args: (place) => ["account", "remove", "ada", "--purge", "--yes", ...within(place)],
    world,
    async prepare(place) {
      await addAccount(place);
      await syncAccount(place);
    },
    // Compared with what the undisturbed command leaves: nothing of the account.
    read: () => null,
    isAtomic: false,
    mirrors: () => [],
    keepsRevisions: false,
    doneBefore: /There is no account called ada/,
  },
];

/** The account without times and random names. */
function readAccountFiles(place: Place): unknown {
  const { accountFile, tokenFile } = accountOf(place);
  const text = readFile(accountFile);
  if (text === null) return null;
  const { addedAt: _a, tokenAt: _t, keychainEntry: _k, ...facts } = JSON.parse(text);
  return [facts, readFile(tokenFile)];
}

function readNotes(file: string): unknown {
  // To be written: after a kill, SQLite has to roll back first.
  const db = new Database(file, { fileMustExist: true });
  try {
    const names = db.prepare("select name from sqlite_schema order by name").pluck().all();
    const [problem] = db.pragma("integrity_check", { simple: true }) === "ok" ? [] : ["damaged"];
    if (problem !== undefined) return problem;
    if (names.length === 0) return null;
    return [names, names.includes("note") ? db.prepare("select * from note order by id").all() : null];
  } finally {
    db.close();
  }
}
