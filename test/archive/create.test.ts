/** Making a backup: one private file, whole or absent, with the same bytes for the same state. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Decrypter } from "age-encryption";
import { describe, expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { zipChunks } from "../../src/archive/container/zip-writer.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { verifyBackup } from "../../src/archive/verify.ts";
import { compactMirror } from "../../src/mirror/compact.ts";
import { beginRun, closeRun, crawl, someTime } from "../mirror/support/mirror-rig.ts";
import { expectUnreadable, testPassphrase } from "../support/canary.ts";
import { readCsv } from "../support/read-csv.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, startBackupRig } from "./support/backup-rig.ts";
import { bodiesBySha256 } from "./support/bodies.ts";

async function startCrawled(): Promise<BackupRig> {
  const rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  return rig;
}

/** Python's standard library reads ZIP. */
const hasPython = spawnSync("python3", ["--version"]).status === 0;

/** The files in a folder, without the mirror's. */
const backupsIn = (folder: string) =>
  readdirSync(folder).filter((name) => !name.startsWith("catalogue.sqlite"));

describe("content", () => {
  it.skipIf(!hasPython)("a backup is a valid ZIP file for another program", async () => {
    await using rig = await startCrawled();
    const { file } = await rig.create("a.zip");
    const program = `
import json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps([archive.testzip(), archive.namelist(), archive.read('tables/bra.json').decode()]))`;
    const [fault, names, bras] = JSON.parse(
      execFileSync("python3", ["-c", program, file], { encoding: "utf8" }),
    );
    expect(fault).toBeNull();
    expect(names.slice(0, 2)).toEqual(["manifest.json", "README.txt"]);
    expect(names.at(-1)).toBe("SHA256SUMS");
    expect(JSON.parse(bras).map(({ note }: { note: string }) => note)).toEqual(["blue", "\\ud800 =1+1"]);
  });

  it.skipIf(!hasPython)(
    "a backup with more than 65,534 entries is a valid ZIP file for another program",
    async () => {
      await using folder = await temporaryFolder();
      const file = join(folder.path, "many.zip");
      expectUnreadable(file);
      const entries = Array.from({ length: 66_000 }, (_, n) => ({
        name: `n/${n}`,
        content: Buffer.from(String(n)),
      }));
      await writeFile(file, await buffer(zipChunks(entries)));
      const program =
        "import sys, zipfile; a = zipfile.ZipFile(sys.argv[1]); print(len(a.namelist()), *(a.read(f'n/{n}').decode() for n in (0, 65535, 65999)))";
      expect(execFileSync("python3", ["-c", program, file], { encoding: "utf8" }).trim()).toBe(
        "66000 0 65535 65999",
      );
    },
  );

  it("a backup holds CSV tables, a README and checksums for use without Armoire", async () => {
    await using rig = await startCrawled();
    await rig.create("a.zip");
    await unpackBackup({ file: rig.path("a.zip"), folder: rig.path("open") });
    const text = (name: string) => readFileSync(rig.path(`open/${name}`), "utf8");
    const [head, ...rows] = readCsv(text("tables/bra.csv"));
    const note = head?.findIndex((field) => field.text === "note") ?? -1;
    expect(rows.map((row) => row[note]?.text)).toEqual(["blue", expect.stringContaining("=1+1")]);
    const [, ...values] = readCsv(text("tables/measurement_value.csv"));
    expect(values.map(([_href, n, name, value]) => [n?.text, name?.text, value?.text])).toEqual([
      ["0", "bust", "90.5"],
      ["0", "date", "2026-01-01"],
    ]);
    expect(text("README.txt")).toMatch(
      /^A backup of what catalogue\.example held for ada, made by Armoire\n/,
    );
    expect(text("README.txt")).toContain("User            ada (user 7)\n");
    execFileSync("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: rig.path("open") });
    const bodies = bodiesBySha256(text, "revisions");
    const revisions = text("bookkeeping/revision-00001.ndjson").matchAll(/"sha256":"([^"]+)"/g);
    for (const [, sha256 = ""] of revisions)
      expect(JSON.parse(bodies.get(sha256) ?? "")).toHaveProperty("rel");
    expect(
      text("revisions/00001.json")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).rel),
    ).toHaveLength(bodies.size);
  });

  it("a backup of the same state has the same bytes, also after the mirror was compacted", async () => {
    await using rig = await startCrawled();
    const first = await rig.create("1.zip");
    rig.mirror.close();
    await compactMirror({ file: rig.file, kinds, openedAt: someTime });
    const second = await rig.create("2.zip");
    expect(second.rootHash).toBe(first.rootHash);
    expect((await readFile(second.file)).equals(await readFile(first.file))).toBe(true);
  });

  it("a backup of a mirror with pruned runs and an open run is restored to the same state", async () => {
    await using rig = await startBackupRig();
    for (const note of ["one", "two", "three"])
      crawl(rig.mirror, accountWorld({ bras: { "1": note } }), { approve: true });
    rig.mirror.pruneRuns([2], someTime);
    beginRun(rig.mirror);
    const { rootHash, manifest } = await rig.create("a.zip");
    expect(manifest.state).toEqual({ run: 4, at: someTime });
    const { check } = await rig.restore("a.zip", "restored.sqlite");
    expect(check.problems).toEqual([]);
    expect(await rig.create("b.zip", { mirror: rig.path("restored.sqlite") })).toMatchObject({ rootHash });
  });

  it("no backup is made of a mirror with a damaged body", async () => {
    await using rig = await startCrawled();
    rig.mirror.db.exec("update _content set body = zeroblob(length(body)) where id = 2");
    await expect(rig.create("a.zip")).rejects.toMatchObject({ code: "damaged" });
    expect(backupsIn(rig.folder)).toEqual([]);
  });

  it("no backup is made of an empty mirror", async () => {
    await using rig = await startBackupRig();
    await expect(rig.create("a.zip")).rejects.toMatchObject({ code: "nothing-held" });
  });
});

describe("file", () => {
  it("in a folder, the file is named by account and state", async () => {
    await using rig = await startCrawled();
    await mkdir(rig.path("backups"));
    const { file } = await rig.create("backups");
    expect(basename(file)).toBe("armoire-ada-2026-01-15T120000Z.zip");
    const nameless = await rig.create("backups", { account: null });
    expect(basename(nameless.file)).toBe("armoire-catalogue-2026-01-15T120000Z.zip");
  });

  it("the file is reused for the same state, and numbered for another state of the same second", async () => {
    await using rig = await startCrawled();
    await mkdir(rig.path("backups"));
    const first = await rig.create("backups");
    expect(await rig.create("backups")).toEqual({ ...first, isNew: false });
    // The run is open, so the time of the state is that of its beginning.
    const runId = beginRun(rig.mirror);
    const open = await rig.create("backups");
    rig.mirror.db.prepare("update _run set mode = 'verify' where id = ?").run(runId);
    const later = await rig.create("backups");
    expect(await rig.create("backups")).toEqual({ ...later, isNew: false });
    expect([first, open, later].map(({ file }) => basename(file))).toEqual([
      "armoire-ada-2026-01-15T120000Z.zip",
      "armoire-ada-2026-01-15T120000Z_02.zip",
      "armoire-ada-2026-01-15T120000Z_03.zip",
    ]);
    for (const { file, rootHash } of [first, open, later])
      expect(await verifyBackup({ file, rootHash })).toMatchObject({ problems: [] });
    await writeFile(rig.path("backups/armoire-ada-2026-01-15T120000Z_04.zip"), "no backup");
    closeRun(rig.mirror, runId);
    const last = await rig.create("backups");
    expect(basename(last.file)).toBe("armoire-ada-2026-01-15T120000Z_05.zip");
    expect(readdirSync(rig.path("backups"))).toHaveLength(5);
  });

  it("the same backup leaves its file unchanged, and another file is replaced only with --replace", async () => {
    await using rig = await startCrawled();
    await rig.create("a.zip");
    const { ino, mtimeMs } = statSync(rig.path("a.zip"));
    expect(await rig.create("a.zip")).toMatchObject({ isNew: false });
    expect(statSync(rig.path("a.zip"))).toMatchObject({ ino, mtimeMs });
    crawl(rig.mirror, accountWorld({ bras: { "1": "grey" } }));
    await expect(rig.create("a.zip")).rejects.toMatchObject({ code: "exists" });
    expect(statSync(rig.path("a.zip"))).toMatchObject({ ino, mtimeMs });
    await writeFile(rig.path("other.zip"), "mine");
    await expect(rig.create("other.zip")).rejects.toMatchObject({ code: "exists" });
    expect(await rig.create("a.zip", { replace: true })).toMatchObject({ isNew: true });
    expect(backupsIn(rig.folder)).toEqual(["a.zip", "other.zip"]);
  });

  it("the file replaces a symbolic link rather than its target", async () => {
    await using rig = await startCrawled();
    await writeFile(rig.path("precious"), "mine");
    await symlink(rig.path("precious"), rig.path("a.zip"));
    await expect(rig.create("a.zip")).rejects.toMatchObject({ code: "exists" });
    await rig.create("a.zip", { replace: true });
    expect(await readFile(rig.path("precious"), "utf8")).toBe("mine");
  });

  it.each(["nowhere", "nowhere/a.zip", "backup"])(
    "no file is written to %s, which does not exist",
    async (place) => {
      await using rig = await startCrawled();
      await expect(rig.create(place)).rejects.toMatchObject({ code: "not-found" });
      expect(backupsIn(rig.folder)).toEqual([]);
    },
  );

  it("the file and everything restored from it are readable by their owner only, whatever the umask", async () => {
    await using rig = await startCrawled();
    const umask = process.umask(0);
    try {
      await rig.create("a.zip");
      await rig.create("a.zip.age", { passphrase: testPassphrase });
      await rig.restore("a.zip", "new/restored.sqlite");
      await unpackBackup({ file: rig.path("a.zip"), folder: rig.path("open") });
    } finally {
      process.umask(umask);
    }
    const made = ["a.zip", "a.zip.age", "new", "open"].flatMap((name) => [
      rig.path(name),
      ...(statSync(rig.path(name)).isDirectory()
        ? readdirSync(rig.path(name), { recursive: true }).map((inner) => rig.path(`${name}/${inner}`))
        : []),
    ]);
    expect(made.length).toBeGreaterThan(20);
    expect(made.filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([]);
  });

  it("a backup is not encrypted with a short passphrase, and nothing is written", async () => {
    await using rig = await startCrawled();
    await expect(rig.create("a.zip.age", { passphrase: "seven77" })).rejects.toMatchObject({
      code: "weak-passphrase",
    });
    expect(backupsIn(rig.folder)).toEqual([]);
  });

  it("a write error names the file and the reason, and nothing of the file remains", async () => {
    await using rig = await startCrawled();
    const program = `
import { createBackup } from ${JSON.stringify(join(import.meta.dirname, "../../src/archive/create.ts"))};
try { await createBackup({ mirror: process.argv[1], account: null, to: process.argv[2] }); } catch ({ code, message }) { console.log(code + " " + message); }`;
    const limited = `ulimit -f 1; exec "$0" "$@"`;
    const out = execFileSync(
      "bash",
      ["-c", limited, process.execPath, "--input-type=module", "-e", program, rig.file, rig.path("a.zip")],
      { encoding: "utf8" },
    );
    expect(out).toMatch(/^write-failed Cannot write .*a\.zip: EFBIG/);
    expect(backupsIn(rig.folder)).toEqual([]);
  });
});

describe("encryption", () => {
  const passphrase = testPassphrase;
  const askPassphrase = async () => passphrase;

  it("an encrypted backup has the format of age, the content of the plain backup, and the same root hash", async () => {
    await using rig = await startCrawled();
    const plain = await rig.create("a.zip");
    const hidden = await rig.create("a.zip.age", { passphrase });
    expect(hidden).toMatchObject({ rootHash: plain.rootHash, isEncrypted: true, isNew: true });
    const decrypter = new Decrypter();
    decrypter.addPassphrase(passphrase);
    const opened = await decrypter.decrypt(await readFile(hidden.file));
    expect(Buffer.from(opened).equals(await readFile(plain.file))).toBe(true);
    expect(await verifyBackup({ file: hidden.file, askPassphrase })).toMatchObject({
      ...{ problems: [], isEncrypted: true, rootHash: plain.rootHash },
    });
    expect(await rig.create("a.zip.age", { passphrase })).toMatchObject({ isNew: false });
    expect(backupsIn(rig.folder)).toEqual(["a.zip", "a.zip.age"]);
  });

  it("an encrypted backup takes the work that age recommends for each guess of the passphrase", () => {
    const program = `
import { encrypted } from ${JSON.stringify(join(import.meta.dirname, "../../src/archive/container/encryption.ts"))};
const { value } = await encrypted([], "six random words").next();
process.stdout.write(value);`;
    // In a process of its own: this one takes less (`test/support/fast-encryption.ts`).
    const start = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "latin1",
    });
    expect(start).toMatch(/^age-encryption\.org\/v1\n-> scrypt \S+ 18\n/);
  });

  it("an encrypted backup does not open without its passphrase or with another one", async () => {
    await using rig = await startCrawled();
    const { file } = await rig.create("a.zip.age", { passphrase });
    await expect(verifyBackup({ file })).rejects.toMatchObject({ code: "needs-passphrase" });
    const wrong = verifyBackup({ file, askPassphrase: async () => "canary-correct horse" });
    await expect(wrong).rejects.toMatchObject({ code: "wrong-passphrase" });
  });
});

it("a mirror whose bookkeeping could not be restored is not backed up, and the reason is named", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  rig.mirror.db.prepare("update _run set counts_json = '{}'").run();
  await expect(rig.create("a.zip")).rejects.toMatchObject({
    code: "damaged",
    message: expect.stringContaining("counts_json"),
  });
  expect(existsSync(rig.path("a.zip"))).toBe(false);
});
