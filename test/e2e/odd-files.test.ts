/** Pipes, links and devices in the place of Armoire's files: each command ends in one error, and nothing is made elsewhere. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLocked, takeLock } from "../../src/platform/process-lock.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { callArmoire, runArmoire } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const makePipe = (path: string) => execFileSync("mkfifo", [path]);
const makeLinkToNothing = (path: string) => symlinkSync(`${path}-target`, path);

/** A new folder with a copy of the mirror. */
function copyMirror(): string {
  const folder = fixture.newPath();
  mkdirSync(folder);
  copyFileSync(fixture.mirror, join(folder, "m.sqlite"));
  return join(folder, "m.sqlite");
}

const syncTo = (mirror: string) => ["sync", "--base-url", fixture.sandbox.url, "--mirror", mirror];
const useOf = (mirror: string) => ({
  startedAt: "2026-01-01T00:00:00.000Z",
  busyMessage: `${mirror} is in use`,
});

it("a pipe in the place of a mirror is refused by status and sync", async () => {
  const pipe = fixture.newPath();
  makePipe(pipe);
  const message = /new-\d+ is a named pipe, not a regular file\.\nMove it away/;
  expectRefusal(await runArmoire(["status", "--mirror", pipe]), 1, message);
  expectRefusal(await runArmoire(syncTo(pipe)), 1, message);
  expectRefusal(await runArmoire(["query", "select 1", "--mirror", pipe]), 1, message);
});

it.each(["-journal", "-wal", "-shm"])("a pipe in the place of a mirror's %s is refused", async (suffix) => {
  const mirror = copyMirror();
  makePipe(mirror + suffix);
  const message = new RegExp(`m\\.sqlite${suffix} is a named pipe, not a regular file`);
  expectRefusal(await runArmoire(["status", "--mirror", mirror]), 1, message);
  expectRefusal(await runArmoire(["query", "select 1", "--mirror", mirror]), 1, message);
  expectRefusal(await runArmoire(syncTo(mirror)), 1, message);
  rmSync(mirror + suffix);
});

it("a pipe in the place of the journal of a mirror's lock is refused", async () => {
  const mirror = copyMirror();
  makePipe(`${mirror}.lock-journal`);
  const message = /m\.sqlite\.lock-journal is a named pipe, not a regular file/;
  expectRefusal(await runArmoire(syncTo(mirror)), 1, message);
  expectRefusal(await runArmoire(["mirror", "compact", "--mirror", mirror]), 1, message);
});

it("a mirror that is a link to nothing is refused, and the link stays", async () => {
  const link = fixture.newPath();
  makeLinkToNothing(link);
  const archive = `${fixture.newPath()}.zip`;
  expect(
    (await callArmoire(["backup", "create", "--mirror", fixture.mirror, "--to", archive])).exitCode,
  ).toBe(0);
  const message = /new-\d+ is a symbolic link, not a regular file\.\nMove it away/;
  expectRefusal(await callArmoire(["status", "--mirror", link]), 1, message);
  expectRefusal(await runArmoire(syncTo(link)), 1, message);
  expectRefusal(await callArmoire(["backup", "restore", archive, "--mirror", link]), 1, message);
  expect(readlinkSync(link)).toBe(`${link}-target`);
  expect(existsSync(link)).toBe(false);
});

describe.each([
  ["a named pipe", makePipe],
  ["a symbolic link", makeLinkToNothing],
] as const)("%s in the place of an archive is refused, and stays:", (what, make) => {
  const license = ["--license", "CC0-1.0"];

  it.each([
    ["backup", []],
    ["snapshot", license],
  ] as const)("%s create --replace", async (command, options) => {
    const archive = `${fixture.newPath()}.zip`;
    make(archive);
    const args = [command, "create", "--mirror", fixture.mirror, "--to", archive, "--replace", ...options];
    expectRefusal(await callArmoire(args), 1, new RegExp(`zip is ${what}, not a regular file`));
    expect(lstatSync(archive).isFile()).toBe(false);
  });

  it("snapshot create --sign, if it is in the place of the signature", async () => {
    const [key, archive] = [`${fixture.newPath()}.pem`, `${fixture.newPath()}.zip`];
    expect((await callArmoire(["snapshot", "key", "--create", key])).exitCode).toBe(0);
    make(`${archive}.sig`);
    const args = ["snapshot", "create", "--mirror", fixture.mirror, "--to", archive, ...license];
    const signed = await callArmoire([...args, "--sign", key]);
    expectRefusal(signed, 1, new RegExp(`zip.sig is ${what}, not a regular file`));
    expect(lstatSync(`${archive}.sig`).isFile()).toBe(false);
    expect(existsSync(archive)).toBe(false);
  });
});

it.each([
  ["query", "select 1", "--out"],
  ["export", "--out"],
  ["backup", "create", "--to"],
  ["sync", "--metrics-file"],
  ["snapshot", "key", "--create"],
])(
  "no output takes the place of a folder of the data directory that is not there yet: %s",
  async (...args) => {
    const dataDir = fixture.newPath();
    for (const name of ["accounts", "schedule-runs"]) {
      const place = join(dataDir, name);
      const options = ["--mirror", fixture.mirror, "--data-dir", dataDir];
      expectRefusal(
        await callArmoire([...args, place, ...options]),
        2,
        /the place of one of Armoire's own folders/,
      );
      expect(existsSync(place)).toBe(false);
    }
  },
);

it("no new mirror takes the place of a folder of the data directory that is not there yet", async () => {
  const [dataDir, backup, snapshot] = [
    fixture.newPath(),
    `${fixture.newPath()}.zip`,
    `${fixture.newPath()}.zip`,
  ];
  const from = ["--mirror", fixture.mirror, "--to"];
  expect((await callArmoire(["backup", "create", ...from, backup])).exitCode).toBe(0);
  const made = await callArmoire(["snapshot", "create", ...from, snapshot, "--license", "CC0-1.0"]);
  expect(made.exitCode).toBe(0);
  const place = join(dataDir, "accounts");
  for (const args of [
    ["sync", "--base-url", fixture.sandbox.url],
    ["snapshot", "load", snapshot],
    ["backup", "restore", backup],
  ]) {
    const ended = await callArmoire([...args, "--mirror", place, "--data-dir", dataDir]);
    expectRefusal(ended, 2, /the place of one of Armoire's own folders/);
    expect(existsSync(place)).toBe(false);
  }
});

it.each(["snapshot", "backup"])(
  "a %s with --replace replaces no mirror that is named like an archive",
  async (command) => {
    const archive = `${fixture.newPath()}.zip`;
    copyFileSync(fixture.mirror, archive);
    const args = [command, "create", "--mirror", fixture.mirror, "--to", archive, "--replace"];
    const options = command === "snapshot" ? ["--license", "CC0-1.0"] : [];
    expectRefusal(
      await callArmoire([...args, ...options]),
      2,
      /is a database of a program, such as a mirror/,
    );
    expect(readFileSync(archive).equals(readFileSync(fixture.mirror))).toBe(true);
  },
);

it("a snapshot without a signature removes no private key in the place of one", async () => {
  const archive = `${fixture.newPath()}.zip`;
  const key = `${archive}.sig`;
  expect((await callArmoire(["snapshot", "key", "--create", key])).exitCode).toBe(0);
  const args = ["snapshot", "create", "--mirror", fixture.mirror, "--to", archive, "--license", "CC0-1.0"];
  expectRefusal(await callArmoire(args), 2, /zip\.sig has a private key in it/);
  expect([existsSync(archive), existsSync(key)]).toEqual([false, true]);
});

it("the file of a statement is not replaced by its answer", async () => {
  const file = `${fixture.newPath()}.json`;
  writeFileSync(file, "select 1");
  const args = ["query", "--file", file, "--out", file, "--mirror", fixture.mirror];
  expectRefusal(await callArmoire(args), 2, /would replace the file of --file/);
  expect(readFileSync(file, "utf8")).toBe("select 1");
});

it("the files of secrets that the same command names are not replaced", async () => {
  const [secret, archive] = [`${fixture.newPath()}.zip.age`, `${fixture.newPath()}.zip`];
  writeFileSync(secret, "gown fling sandy rug\n", { mode: 0o600 });
  const backUp = ["backup", "create", "--mirror", fixture.mirror, "--to", secret, "--replace"];
  expectRefusal(
    await callArmoire([...backUp, "--encrypt", "--passphrase-file", secret]),
    2,
    /would replace the file of --passphrase-file/,
  );
  const key = `${archive}.sig`;
  expect((await callArmoire(["snapshot", "key", "--create", key])).exitCode).toBe(0);
  const share = ["snapshot", "create", "--mirror", fixture.mirror, "--to", archive, "--license", "CC0-1.0"];
  expectRefusal(await callArmoire([...share, "--sign", key]), 2, /would replace the file of --sign/);
  expect((await callArmoire(["snapshot", "key", key])).exitCode).toBe(0);
});

it.each([
  ["query", "select 1", "--out"],
  ["changes", "--out"],
  ["sync", "--metrics-file"],
])("the files that settings come from are not replaced by %s", async (...args) => {
  const [config, token] = [`${fixture.newPath()}.json`, `${fixture.newPath()}.json`];
  writeFileSync(config, JSON.stringify({ baseUrl: fixture.sandbox.url }));
  writeFileSync(token, "of-a-user", { mode: 0o600 });
  const link = `${fixture.newPath()}.json`;
  symlinkSync(token, link);
  const env = { ARMOIRE_TOKEN_FILE: token };
  const call = (out: string) =>
    callArmoire([...args, out, "--mirror", fixture.mirror, "--config", config], { env });
  expectRefusal(await call(config), 2, /would replace the file of --config\./);
  for (const out of [token, link])
    expectRefusal(await call(out), 2, /would replace the file of ARMOIRE_TOKEN_FILE\./);
  expect(readFileSync(token, "utf8")).toBe("of-a-user");
});

it("a link to a mirror has the lock of its target, and is synced as that", async () => {
  const mirror = copyMirror();
  const link = fixture.newPath();
  symlinkSync(mirror, link);
  const lock = takeLock(mirror, useOf(mirror));
  expectRefusal(await callArmoire(syncTo(link)), 11, /is in use by process/);
  lock.release();
  expect((await callArmoire(syncTo(link))).exitCode).toBe(0);
  expect(existsSync(`${link}.lock`)).toBe(false);
});

it.each(["m.sqlite", "ledger.sqlite"])("%s is not written while it has a hard link", async (name) => {
  const mirror = copyMirror();
  const sync = [...syncTo(mirror), "--data-dir", dirname(mirror)];
  expect((await callArmoire(sync)).exitCode).toBe(0);
  const file = join(dirname(mirror), name);
  linkSync(file, fixture.newPath());
  expectRefusal(await callArmoire(sync), 1, /sqlite has another name, too \(a hard link\).*\nCopy it/);
  expect((await callArmoire(["status", "--mirror", mirror])).exitCode).toBe(0);
});

/** Runs a command where a file is mounted at a second path; only some systems allow that. */
const withMount = (file: string, second: string, command: readonly string[]) =>
  spawnSync(
    "unshare",
    [
      ...["--map-root-user", "--mount", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh"],
      ...[file, second, ...command],
    ],
    { encoding: "utf8" },
  );
const canMount = withMount(process.execPath, process.execPath, ["true"]).status === 0;

it.skipIf(!canMount)("a mirror that is mounted at a second path is not written there, but read", () => {
  const mirror = copyMirror();
  const second = join(fixture.newPath(), "with a blank.sqlite");
  mkdirSync(dirname(second));
  writeFileSync(second, "");
  const run = (args: readonly string[]) => {
    const { status, stdout, stderr } = withMount(mirror, second, [process.execPath, armoireProgram, ...args]);
    return { exitCode: status ?? -1, stdout, stderr };
  };
  expectRefusal(run(syncTo(second)), 1, /blank\.sqlite is mounted by itself .*\nMount its folder instead/);
  expect(run(["status", "--mirror", second]).exitCode).toBe(0);
});

describe("a lock file", () => {
  it.each([
    ["a link to nothing", makeLinkToNothing, /\.lock is a symbolic link, not a regular file/],
    ["a pipe", makePipe, /\.lock is a named pipe, not a regular file/],
  ])("a lock file that is %s is refused, and its target is not made", async (_case, make, message) => {
    const mirror = copyMirror();
    make(`${mirror}.lock`);
    expectRefusal(await runArmoire(syncTo(mirror)), 1, message);
    expect(existsSync(`${mirror}.lock-target`)).toBe(false);
    expect(isLocked(mirror)).toBe(false);
  });

  it("a pipe in the place of a holder's name does not delay the message that a lock is taken", () => {
    const mirror = copyMirror();
    const lock = takeLock(mirror, useOf(mirror));
    execFileSync("rm", [`${mirror}.holder.json`]);
    makePipe(`${mirror}.holder.json`);
    expect(() => takeLock(mirror, useOf(mirror))).toThrow(`${mirror} is in use by another process.`);
    lock.release();
  });
});

it.each([
  ["a link to nothing", makeLinkToNothing, /ledger\.sqlite is a symbolic link, not a regular file/],
  ["a pipe", makePipe, /ledger\.sqlite is a named pipe, not a regular file/],
])("a ledger that is %s is refused, and its target is not made", async (_case, make, message) => {
  const dataDir = fixture.newPath();
  mkdirSync(dataDir);
  make(join(dataDir, "ledger.sqlite"));
  const result = await runArmoire(["sync", "--base-url", fixture.sandbox.url, "--data-dir", dataDir]);
  expectRefusal(result, 1, message);
  expect(existsSync(join(dataDir, "ledger.sqlite-target"))).toBe(false);
});

it("a pipe is refused as config file, as archive and as descriptor of an export", async () => {
  const pipe = fixture.newPath();
  makePipe(pipe);
  const folder = fixture.newPath();
  mkdirSync(folder);
  makePipe(join(folder, "datapackage.json"));
  expectRefusal(await callArmoire(["status", "--config", pipe]), 1, /is a named pipe/);
  expectRefusal(await callArmoire(["backup", "verify", pipe]), 1, /it is not a regular file/);
  const toFolder = ["export", "--out", folder, "--mirror", fixture.mirror];
  expectRefusal(await callArmoire(toFolder), 1, /datapackage\.json is a named pipe/);
  expectRefusal(await callArmoire(["diff", "--from", folder, "--mirror", fixture.mirror]), 1, /named pipe/);
});

it("a pipe in place of the schedules is refused without a word about tokens", async () => {
  const dataDir = fixture.newPath();
  mkdirSync(dataDir);
  makePipe(join(dataDir, "schedules.json"));
  const result = await callArmoire(["schedule", "list", "--data-dir", dataDir]);
  expectRefusal(result, 4, /schedules\.json is not a regular file\.\nMove it away\.\n$/);
});

it("a link to nothing in the place of the config file is refused", async () => {
  const configFolder = fixture.newPath();
  mkdirSync(join(configFolder, "armoire"), { recursive: true });
  makeLinkToNothing(join(configFolder, "armoire", "config.json"));
  const result = await runArmoire(["status"], { env: { XDG_CONFIG_HOME: configFolder } });
  expectRefusal(result, 1, /config\.json is a symbolic link, not a regular file/);
});

it("a config file without an end is refused", async () => {
  const file = fixture.newPath();
  writeFileSync(file, " ".repeat(70_000));
  expectRefusal(await callArmoire(["status", "--config", file]), 1, /is larger than 65536 bytes/);
});
