/** Pictures in a backup: stored, verified and restored. */
import { hash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import { kinds } from "../../jobs/kinds.ts";
import { describeMissing, isComplete } from "../../src/archive/contents/completeness.ts";
import { type ListedBackup, listBackups } from "../../src/archive/list.ts";
import { restoreBackup, unpackBackup } from "../../src/archive/restore.ts";
import { formatList } from "../../src/cli/format/operations/backup.ts";
import { crawl, someTime } from "../mirror/support/mirror-rig.ts";
import { png } from "../support/picture-server.ts";
import { readCsv } from "../support/read-csv.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, scanBytes, startBackupRig } from "./support/backup-rig.ts";
import { type ForgedEntry, forgeZip } from "./support/forge-zip.ts";
import { takeApart, withSums } from "./support/forgery.ts";

const picture = png("ada");
const sha256 = hash("sha256", picture);

/** A mirror with a user obstacle avatar was downloaded. */
async function startPictureRig(): Promise<BackupRig> {
  const rig = await startBackupRig();
  const avatar = `"username":"ada","avatar":{"medium":"https://pictures.example/a.png"}`;
  const world = [...accountWorld()].map(
    ([url, body]) => [url, body.replace('"username":"ada"', avatar)] as const,
  );
  crawl(rig.mirror, new Map(world));
  const [known] = rig.mirror.notePictures();
  rig.mirror.recordPictures([
    {
      ...{
        id: known?.id ?? 0,
        at: 1,
        outcome: "picture",
        sha256: rig.mirror.storePicture(picture, "image/png"),
      },
      ...{ type: "image/png", size: picture.length, etag: null, lastModified: null },
    },
  ]);
  return rig;
}

it("a picture is in the backup byte for byte, and is restored to its place", async () => {
  await using rig = await startPictureRig();
  await rig.create("a.zip");
  mkdirSync(rig.path("new"));
  const restored = await rig.restore("a.zip", "new/mirror.sqlite");
  expect(restored.check).toMatchObject({ pictures: 1, problems: [] });
  const file = rig.path(`new/media/${sha256}.png`);
  expect(await readFile(file)).toEqual(picture);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  const again = await rig.create("b.zip", { mirror: rig.path("new/mirror.sqlite") });
  expect(await readFile(again.file)).toEqual(await readFile(rig.path("a.zip")));
});

it.each(["a file of another program", "another mode"])(
  "a picture is not restored into a folder that has %s, and neither is the mirror",
  async (obstacle) => {
    await using rig = await startPictureRig();
    await rig.create("a.zip");
    const folder = rig.path("home/media");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (obstacle === "a file of another program") writeFileSync(join(folder, "holiday.png"), "mine");
    else chmodSync(folder, 0o755);
    const before = statSync(folder).mode;
    await expect(rig.restore("a.zip", "home/x.sqlite")).rejects.toMatchObject({
      ...{ code: "exists", file: folder },
    });
    expect(statSync(folder).mode).toBe(before);
    expect(readdirSync(folder)).toEqual(obstacle === "a file of another program" ? ["holiday.png"] : []);
    expect(readdirSync(rig.path("home"))).toEqual(["media"]);
  },
);

it("the media table lists pictures, also those that were not downloaded", async () => {
  await using rig = await startPictureRig();
  expect((await rig.create("whole.zip")).manifest.coverage).toContainEqual({
    ...{ kind: "picture", held: 1, due: 0, failed: 0 },
  });
  const other = { "1": "blue", "2": "red", "3": "white" };
  const world = accountWorld({ bras: other });
  const photo = (n: string) => `"note":"${n}","photo":"https://pictures.example/${n}.png"`;
  for (const [url, body] of world)
    world.set(
      url,
      body.replace(/"note":"(\w+)"/, (_all, n: string) => photo(n)),
    );
  crawl(rig.mirror, world);
  const noted = rig.mirror.notePictures();
  const errors = { "blue.png": "no picture", "red.png": "answered 404" };
  for (const { id, url } of noted)
    for (const [name, error] of Object.entries(errors))
      if (url.endsWith(name)) rig.mirror.recordPictures([{ id, at: 1, outcome: "none", error }]);
  const { manifest } = await rig.create("a.zip");
  // A picture that was gone before its first download is no gap: another attempt cannot fill it.
  expect(manifest.coverage).toContainEqual({ kind: "picture", held: 0, due: 1, failed: 1 });
  expect(describeMissing(manifest)).toBe(
    "Not complete: 1 picture is not downloaded yet; --media downloads them; 1 picture is noted and could not be downloaded.",
  );
  expect(isComplete(manifest)).toBe(false);
  await unpackBackup({ file: rig.path("a.zip"), folder: rig.path("open") });
  const [head, ...rows] = readCsv(readFileSync(rig.path("open/tables/media.csv"), "utf8"));
  expect(head?.map(({ text }) => text).slice(0, 4)).toEqual(["href", "field", "url", "file"]);
  expect(rows.map(([, , url, file]) => [url?.text, file?.text])).toEqual([
    ["https://pictures.example/a.png", `media/${sha256}.png`],
    ["https://pictures.example/blue.png", ""],
    ["https://pictures.example/red.png", ""],
    ["https://pictures.example/white.png", ""],
  ]);
});

it("an export of the present has the media table, and an export of the past does not", async () => {
  await using rig = await startPictureRig();
  const about = { file: rig.file, formats: ["csv"], tables: [], toolVersion: "1" } as const;
  const { files } = await exportMirror({ ...about, out: rig.path("now") });
  expect(files).toContainEqual(expect.objectContaining({ path: "media.csv", rows: 1 }));
  const past = await exportMirror({ ...about, out: rig.path("then"), asOf: { kind: "run", run: 1 } });
  expect(past.files.map(({ table }) => table)).toEqual(
    files.map(({ table }) => table).filter((table) => table !== "media"),
  );
});

it("a missing or changed picture prevents a backup, and the error says what to do", async () => {
  await using rig = await startPictureRig();
  const file = join(dirname(rig.file), "media", `${sha256}.png`);
  writeFileSync(file, "something else");
  await expect(rig.create("a.zip")).rejects.toMatchObject({
    code: "damaged",
    file,
    problem: expect.stringContaining("does not match its SHA-256"),
  });
  rmSync(file);
  await expect(rig.create("a.zip")).rejects.toMatchObject({
    code: "damaged",
    hint: expect.stringContaining("--media` to download it"),
  });
  expect(existsSync(rig.path("a.zip"))).toBe(false);
});

it("a damaged, removed, added or misnamed picture is found", async () => {
  await using rig = await startPictureRig();
  const bytes = await rig.bytes();
  const flipped = Buffer.from(bytes);
  const at = bytes.indexOf(picture) + picture.length - 1;
  flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
  const entry = `media/${sha256}.png`;
  expect((await scanBytes(flipped)).problems).toContainEqual({ entry, message: "its content is damaged" });

  const entries = await takeApart(bytes);
  const unrelated = { name: `media/${hash("sha256", "")}`, content: Buffer.alloc(0) };
  const problemsOf = async (forged: readonly ForgedEntry[]) =>
    (await scanBytes(forgeZip(withSums(forged)))).problems;
  expect(await problemsOf(entries)).toEqual([]);
  expect(await problemsOf(entries.filter(({ name }) => name !== entry))).toEqual([
    { entry, message: "is missing" },
  ]);
  const isPast = unrelated.name > entry ? 1 : 0;
  const n = entries.findIndex(({ name }) => name === entry) + isPast;
  expect(await problemsOf(entries.toSpliced(n, 0, unrelated))).toEqual([
    { entry: unrelated.name, message: "belongs to no address" },
  ]);
  const changed = entries.map((each) => (each.name === entry ? { ...each, content: png("eve") } : each));
  expect(await problemsOf(changed)).toEqual([
    { entry, message: "does not have the SHA-256 that is its name" },
  ]);
});

it.each([
  ["image/png", ".png"],
  ["image/jpeg", ".jpg"],
  ["image/gif", ".gif"],
  ["image/webp", ".webp"],
  ["image/avif", ".avif"],
  ["image/of-a-later-version", ""],
])("a picture of type %s has the extension %j", async (type, suffix) => {
  await using rig = await startPictureRig();
  rig.mirror.db.prepare("update _media_file set type = ?").run(type);
  rig.mirror.storePicture(picture, type);
  const { manifest } = await rig.create("a.zip");
  expect(manifest.formatVersion).toBe(4);
  await unpackBackup({ file: rig.path("a.zip"), folder: rig.path("open") });
  expect(readdirSync(rig.path("open/media"))).toEqual([`${sha256}${suffix}`]);
  const [row] = JSON.parse(readFileSync(rig.path("open/tables/media.json"), "utf8"));
  expect(row).toMatchObject({ type, file: `media/${sha256}${suffix}` });
});

it("a list of backups counts pictures and their changes", async () => {
  await using rig = await startPictureRig();
  mkdirSync(rig.path("backups"));
  let day = 0;
  const backUp = async () => {
    rig.mirror.db.prepare("update _run set ended_at = ?").run(`2026-01-0${++day}T00:00:00.000Z`);
    await rig.create("backups");
  };
  await backUp();
  const recordPicture = (id: number, bytes: Buffer) =>
    rig.mirror.recordPictures([
      {
        ...{ id, at: 2, outcome: "picture", sha256: rig.mirror.storePicture(bytes, "image/png") },
        ...{ type: "image/png", size: bytes.length, etag: null, lastModified: null },
      },
    ]);
  const [known] = rig.mirror.notePictures();
  recordPicture(known?.id ?? 0, png("older"));
  await backUp();
  const world = accountWorld({ bras: { "1": "blue" } });
  for (const [url, body] of world)
    world.set(url, body.replace('"note"', '"photo":"https://pictures.example/b.png","note"'));
  crawl(rig.mirror, world);
  const noted = rig.mirror.notePictures();
  await backUp();
  for (const { id, sha256 } of noted) if (sha256 === null) recordPicture(id, png("blue"));
  await backUp();
  const listed: ListedBackup[] = [];
  for await (const backup of listBackups({ folder: rig.path("backups") })) listed.push(backup);
  const changes = listed.map((backup) => backup.isSound && (backup.changes?.picture ?? null));
  expect(changes).toEqual([null, { changed: 1 }, null, { added: 1 }]);
  expect(formatList(listed, basename)).toContain("  1 picture\n");
});

it.each([
  ["image/gif", ".gif"],
  ["image/webp", ".png"],
])("a picture that was recorded as image/png and later as %s has the extension %s", async (type, suffix) => {
  await using rig = await startPictureRig();
  rig.mirror.db
    .prepare("insert into _media_file select media_id, seq + 1, sha256, ?, size, fetched_at from _media_file")
    .run(type);
  rig.mirror.storePicture(picture, type);
  const bytes = await rig.bytes();
  expect((await scanBytes(bytes)).problems).toEqual([]);
  expect((await takeApart(bytes)).map(({ name }) => name)).toContain(`media/${sha256}${suffix}`);
});

it.each(["", ".jpg"])(
  "a picture under a name with another extension is reported as missing: %j",
  async (extension) => {
    await using rig = await startPictureRig();
    const entries = (await takeApart(await rig.bytes())).map(({ name, content }) => ({
      name: name.replace(/^(media\/\w+)\.png$/, `$1${extension}`),
      content,
    }));
    const { problems } = await scanBytes(forgeZip(withSums(entries)));
    expect(problems.map(({ message }) => message)).toEqual(["is missing", "belongs to no address"]);
  },
);

it("no picture remains if the rest of the restore is refused", async () => {
  await using rig = await startPictureRig();
  const entries = await takeApart(await rig.bytes());
  const file = rig.path("forged.zip");
  // Only the bodies show that the user is another one: the rows are sound.
  const forged = entries.map((entry) =>
    entry.name === "manifest.json" || entry.name === "bookkeeping/meta-00001.ndjson"
      ? {
          ...entry,
          content: Buffer.from(entry.content.toString().replace(/("userId": |user_id.*)"7"/, '$1"8"')),
        }
      : entry,
  );
  await writeFile(file, forgeZip(withSums(forged)));
  expect((await scanBytes(forgeZip(withSums(forged)))).problems).toEqual([]);
  const restore = (mirror: string) => restoreBackup({ file, mirror, kinds, openedAt: someTime });
  await expect(restore(rig.path("new/m.sqlite"))).rejects.toMatchObject({ code: "damaged" });
  expect(existsSync(rig.path("new"))).toBe(false);
  const earlier = "0".repeat(64);
  mkdirSync(rig.path("old/media"), { recursive: true, mode: 0o700 });
  writeFileSync(rig.path(`old/media/${earlier}`), "of an earlier mirror");
  await expect(restore(rig.path("old/m.sqlite"))).rejects.toMatchObject({ code: "damaged" });
  expect(readdirSync(rig.path("old/media"))).toEqual([earlier]);
});
