/** Listing a folder of backups, and pruning it. */
import { execFileSync } from "node:child_process";
import { appendFile, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type ListedBackup, type ListRequest, listBackups } from "../../src/archive/list.ts";
import { pruneBackups } from "../../src/archive/prune.ts";
import { formatPruned } from "../../src/cli/format/operations/backup.ts";
import type { RetentionPolicy } from "../../src/mirror/runs/retention.ts";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { baseUrl } from "../mirror/support/world.ts";
import { expectUnreadable, testPassphrase } from "../support/canary.ts";
import { tries } from "../support/thorough.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, startBackupRig, startRigWithBackupFolder } from "./support/backup-rig.ts";

async function list(folder: string, more: Partial<ListRequest> = {}): Promise<ListedBackup[]> {
  const listed: ListedBackup[] = [];
  for await (const backup of listBackups({ folder, ...more })) listed.push(backup);
  return listed;
}

/** A backup after a run that ended at this time. */
async function backUpAt(
  rig: BackupRig,
  at: string,
  bras?: Record<string, string>,
  name = "backups",
): Promise<string> {
  const { runId } = crawl(rig.mirror, accountWorld(bras && { bras }), { approve: true });
  rig.mirror.db.prepare("update _run set ended_at = ? where id = ?").run(at, runId);
  return basename((await rig.create(name)).file);
}

const names = (listed: readonly { readonly file: string }[]) => listed.map(({ file }) => basename(file));

it("a list shows each backup's account and state, and the changes since the one before", async () => {
  await using rig = await startRigWithBackupFolder();
  await backUpAt(rig, "2026-01-01T00:00:00.000Z", { "1": "blue", "2": "red" });
  await backUpAt(rig, "2026-01-02T00:00:00.000Z", { "1": "blue", "3": "green", "4": "white" });
  await backUpAt(rig, "2026-01-03T00:00:00.000Z", { "1": "grey", "3": "green", "4": "white" });
  await backUpAt(rig, "2026-01-04T00:00:00.000Z", { "1": "grey", "3": "green", "4": "white" });
  const listed = await list(rig.path("backups"));
  expect(listed).toMatchObject([
    { isSound: true, manifest: { account: "ada", state: { at: "2026-01-01T00:00:00.000Z" } }, changes: null },
    {
      manifest: {
        tables: expect.arrayContaining([expect.objectContaining({ name: "bra", current: 3, rows: 4 })]),
      },
    },
    { changes: { bra: { changed: 1 } } },
    { changes: {} },
  ]);
  expect(listed[1]).toMatchObject({ changes: { bra: { added: 2, removed: 1 } } });
});

it("a list names damaged, unsupported and encrypted backups, and files that may be backups without a header", async () => {
  await using rig = await startRigWithBackupFolder();
  const damaged = await backUpAt(rig, "2026-01-01T00:00:00.000Z");
  await appendFile(rig.path(`backups/${damaged}`), "x");
  expectUnreadable(rig.path(`backups/${damaged}`));
  await backUpAt(rig, "2026-01-02T00:00:00.000Z");
  await rig.create("backups", { passphrase: testPassphrase });
  expectUnreadable(rig.path("backups/holiday.zip"));
  await writeFile(rig.path("backups/holiday.zip"), "PK\x05\x06".padEnd(22, "\0"));
  await writeFile(rig.path("backups/armoire-notes.zip"), "not a backup");
  await writeFile(rig.path("backups/letter.txt"), "dear");
  const listed = await list(rig.path("backups"));
  expect(listed.map((backup) => (backup.isSound ? "sound" : backup.code))).toEqual([
    "damaged",
    "sound",
    "needs-passphrase",
    "damaged",
    "unreadable",
  ]);
  expect(listed.at(-1)).toMatchObject({ file: expect.stringContaining("holiday.zip"), problems: [{}] });
  const opened = await list(rig.path("backups"), { askPassphrase: async () => testPassphrase });
  expect(opened[2]).toMatchObject({ isSound: true, isEncrypted: true, changes: {} });
});

it("a list names a renamed backup whose manifest is damaged or cut off, and no ZIP file of another program", async () => {
  await using rig = await startRigWithBackupFolder();
  await using other = await startRigWithBackupFolder();
  const whole = await readFile(rig.path(`backups/${await backUpAt(rig, "2026-01-01T00:00:00.000Z")}`));
  const changed = Buffer.from(whole);
  changed[100] = ~(changed[100] ?? 0);
  await writeFile(other.path("backups/changed.zip"), changed);
  await writeFile(other.path("backups/cut-off.zip"), whole.subarray(0, 100));
  const dated = Buffer.from(whole);
  dated.writeUInt16LE(1, 10);
  await writeFile(other.path("backups/of-another-program.zip"), dated);
  expect(await list(other.path("backups"))).toMatchObject([
    { code: "damaged", problems: [{ entry: "manifest.json" }] },
    { code: "damaged", problems: [{ entry: "manifest.json" }] },
    { code: "unreadable", problems: [{ entry: null }] },
  ]);
  // The search for secrets cannot look into them.
  await rm(other.path("backups"), { recursive: true });
});

it("a list does not block on pipes, and reports folders named like backups", async () => {
  await using rig = await startRigWithBackupFolder();
  execFileSync("mkfifo", [rig.path("backups/armoire-pipe.zip")]);
  await mkdir(rig.path("backups/armoire-folder.zip"));
  expect(await list(rig.path("backups"))).toMatchObject([{ code: "unreadable" }, { code: "unreadable" }]);
});

it("a list of a missing folder or of a file is refused", async () => {
  await expect(list("/nonexistent/backups")).rejects.toMatchObject({
    ...{ code: "not-found", message: "There is no folder: /nonexistent/backups" },
  });
  await using rig = await startRigWithBackupFolder();
  await expect(list(rig.file)).rejects.toMatchObject({
    ...{ code: "not-found", message: `This is not a folder: ${rig.file}` },
  });
});

it("pruning applies the retention policy to each account separately, and a preview removes nothing", async () => {
  await using rig = await startRigWithBackupFolder();
  for (const day of ["01", "02", "03"]) {
    await backUpAt(rig, `2026-01-${day}T01:00:00.000Z`);
    await backUpAt(rig, `2026-01-${day}T02:00:00.000Z`);
  }
  await using eve = await startBackupRig({ userId: "8", username: "eve" });
  crawl(eve.mirror, accountWorld({ username: "eve", userId: 8 }));
  const { file: ofEveAlone } = await eve.create("", { account: "eve", to: rig.path("backups") });
  const all = await readdir(rig.path("backups"));
  const of = {
    service: { baseUrl, name: "service" },
    area: "account",
    user: { userId: "8", username: "eve" },
    account: "eve",
  } as const;
  expect(names(await list(rig.path("backups"), { of }))).toEqual([basename(ofEveAlone)]);
  const ofEve = { folder: rig.path("backups"), of, keep: { last: 1 }, isPreview: false };
  expect(await pruneBackups(ofEve)).toMatchObject({ keep: [{}], remove: [] });
  const keep = { daily: 2 };
  const preview = await pruneBackups({ folder: rig.path("backups"), keep, isPreview: true });
  expect(await readdir(rig.path("backups"))).toEqual(all);
  const report = await pruneBackups({ folder: rig.path("backups"), keep, isPreview: false });
  expect(report).toEqual({ ...preview, isPreview: false });
  expect(report.keep.map(({ at, reasons }) => [at, reasons])).toEqual([
    ["2026-01-03T02:00:00.000Z", ["latest", "daily 2026-01-03"]],
    ["2026-01-02T02:00:00.000Z", ["daily 2026-01-02"]],
    ["2026-01-15T12:00:00.000Z", ["latest", "daily 2026-01-15"]],
  ]);
  expect((await readdir(rig.path("backups"))).sort()).toEqual(names(report.keep).sort());
});

it("pruning neither removes unsound backups nor counts them as kept", async () => {
  await using rig = await startRigWithBackupFolder();
  const good = await backUpAt(rig, "2026-01-01T00:00:00.000Z");
  const bad = await backUpAt(rig, "2026-01-02T00:00:00.000Z");
  await appendFile(rig.path(`backups/${bad}`), "x");
  expectUnreadable(rig.path(`backups/${bad}`));
  await rig.create("backups", { passphrase: testPassphrase });
  const report = await pruneBackups({ folder: rig.path("backups"), keep: { last: 1 }, isPreview: false });
  expect(names(report.keep)).toEqual([good]);
  expect(report.remove).toEqual([]);
  expect(report.untouched.map(({ code }) => code)).toEqual(["damaged", "needs-passphrase"]);
});

it("pruning neither removes backups with names that the user chose nor counts them as kept", async () => {
  await using rig = await startRigWithBackupFolder();
  const first = await backUpAt(rig, "2026-01-01T01:00:00.000Z");
  await backUpAt(rig, "2026-01-01T02:00:00.000Z", undefined, "backups/before-the-move.zip");
  await backUpAt(rig, "2026-01-02T01:00:00.000Z", undefined, "backups/armoire-ada-the-good-one.zip");
  const second = await backUpAt(rig, "2026-01-02T00:00:00.000Z");
  const report = await pruneBackups({ folder: rig.path("backups"), keep: { daily: 1 }, isPreview: false });
  expect(report.keep.map(({ file, reasons }) => [basename(file), reasons])).toEqual([
    [second, ["latest", "daily 2026-01-02"]],
    ["armoire-ada-the-good-one.zip", ["name"]],
    ["before-the-move.zip", ["name"]],
  ]);
  expect(names(report.remove)).toEqual([first]);
  expect((await readdir(rig.path("backups"))).sort()).toEqual(names(report.keep).sort());
  expect(formatPruned(report, basename)).toContain("named by you");
});

it("a backup that was renamed counts as named by the user, also if the name is as Armoire names others", async () => {
  await using rig = await startRigWithBackupFolder();
  const renamed = [
    "armoire-ada-2027-01-01T000000Z.zip",
    "armoire-eve-2026-01-01T000000Z.zip",
    "armoire-ada-2026-01-01T000000Z.old-2026-01-01T000000Z.zip",
  ];
  for (const name of renamed) await backUpAt(rig, "2026-01-01T00:00:00.000Z", undefined, `backups/${name}`);
  const latest = await backUpAt(rig, "2026-01-02T00:00:00.000Z");
  const report = await pruneBackups({ folder: rig.path("backups"), keep: { last: 1 }, isPreview: false });
  expect(report.remove).toEqual([]);
  expect(names(report.keep).sort()).toEqual([latest, ...renamed].sort());
});

it("no backup is removed without a later one: not as the copy of the latest", async () => {
  await using rig = await startRigWithBackupFolder();
  const earlier = await backUpAt(rig, "2026-01-01T00:00:00.000Z");
  const latest = await backUpAt(rig, "2026-01-02T00:00:00.000Z");
  const copies = [latest.replace(".zip", "_02.zip"), `${latest}.age`];
  await copyFile(rig.path(`backups/${latest}`), rig.path(`backups/${copies[0]}`));
  await rig.create("backups", { passphrase: testPassphrase });
  const askPassphrase = async () => testPassphrase;
  const folder = rig.path("backups");
  const report = await pruneBackups({ folder, askPassphrase, keep: { last: 1 }, isPreview: false });
  expect(names(report.remove)).toEqual([earlier]);
  expect((await readdir(folder)).sort()).toEqual([latest, ...copies].sort());
});

it("pruning always keeps the newest backup of each account, by time and by run", async () => {
  await using rig = await startRigWithBackupFolder();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 28 }), { minLength: 1, maxLength: 5 }),
      fc.record({ last: fc.constantFrom(1, 2), weekly: fc.constantFrom(1, 2) }, { requiredKeys: [] }),
      async (days, keep: RetentionPolicy) => {
        const folder = await rig.path("backups");
        for (const name of await readdir(folder)) await rename(`${folder}/${name}`, rig.path(`gone-${name}`));
        for (const day of days)
          await backUpAt(
            rig,
            `2026-02-${String(day).padStart(2, "0")}T00:00:00.000Z`,
            undefined,
            `backups/armoire-ada-2026-02-${String(day).padStart(2, "0")}T000000Z_${numberOf(++made)}.zip`,
          );
        const before = await list(folder);
        await pruneBackups({ folder, keep, isPreview: false });
        const remaining = names(await list(folder));
        expect(remaining.some((name) => name.includes(`_${numberOf(made)}.`))).toBe(true);
        const latest = before
          .flatMap((backup) => (backup.isSound ? [backup.manifest.state.at] : []))
          .sort()
          .at(-1);
        const held = before.filter((backup) => backup.isSound && backup.manifest.state.at === latest);
        expect(names(held).some((name) => remaining.includes(name))).toBe(true);
      },
    ),
    { numRuns: tries(6, 50) },
  );
});

let made = 0;
const numberOf = (n: number) => String(n).padStart(2, "0");
