/** Damaged and forged snapshots are refused, and so are other files. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { blockEntries } from "../../../src/archive/container/body-blocks.ts";
import { createSnapshot } from "../../../src/archive/snapshot/create.ts";
import { openSnapshot, verifySnapshot } from "../../../src/archive/snapshot/open.ts";
import { verifyBackup } from "../../../src/archive/verify.ts";
import { crawl, type MirrorRig, startMirrorRig } from "../../mirror/support/mirror-rig.ts";
import { expectUnreadable, testPassphrase } from "../../support/canary.ts";
import { isThorough } from "../../support/thorough.ts";
import { accountWorld } from "../support/account-world.ts";
import { startBackupRig } from "../support/backup-rig.ts";
import { type ForgedEntry, forgeZip } from "../support/forge-zip.ts";
import { takeApart, withSums } from "../support/forgery.ts";
import { catalogueWorld } from "../support/linked-catalogue-rig.ts";

let rig: MirrorRig;
let sound: Buffer;
let rootHash: string;
beforeAll(async () => {
  rig = await startMirrorRig();
  crawl(await rig.write(), catalogueWorld(["a"]));
  const created = await createSnapshot({
    ...{ mirror: rig.file, to: join(rig.folder, "sound.zip"), license: "CC0-1.0" },
  });
  rootHash = created.rootHash;
  sound = await readFile(created.file);
});
afterAll(async () => await rig[Symbol.asyncDispose]());

async function problemsOf(bytes: Uint8Array) {
  const file = join(rig.folder, "tried.zip");
  await writeFile(file, bytes);
  return (await verifySnapshot({ file })).problems;
}

/** The snapshot with other lines in its index, and everything else made to fit. */
async function withLines(change: (lines: Record<string, unknown>[]) => Record<string, unknown>[]) {
  const entries = await takeApart(sound);
  const contentOf = (name: string) =>
    entries.find((entry) => entry.name === name)?.content ?? Buffer.alloc(0);
  const block = contentOf("resources/00001.json");
  const lines = contentOf("resources/00001-index.ndjson").toString().trimEnd().split("\n");
  const changed = change(lines.map((line) => JSON.parse(line))).map(
    ({ sha256, offset, length, ...about }) => ({
      sha256: String(sha256),
      body: block.subarray(Number(offset), Number(offset) + Number(length)),
      about: Object.entries(about)
        .map((cell) => `${cell.map((part) => JSON.stringify(part)).join(":")},`)
        .join(""),
    }),
  );
  const blocks = new Map([...blockEntries("resources", changed)].map((entry) => [entry.name, entry.content]));
  return entries.map((entry) => ({ ...entry, content: blocks.get(entry.name) ?? entry.content }));
}

const stride = isThorough ? 1 : 23;
const start = Math.floor(Math.random() * stride);

it(`a flipped bit is found in every byte of a snapshot (every ${stride}, from ${start})`, async () => {
  const missed: number[] = [];
  for (let byte = start; byte < sound.length; byte += stride) {
    const flipped = Buffer.from(sound);
    flipped[byte] = (sound[byte] ?? 0) ^ (1 << (byte & 7));
    const problems = await problemsOf(flipped).catch((error) => [error.code]);
    if (problems.length === 0) missed.push(byte);
  }
  expect(missed).toEqual([]);
});

it.each<[string, (lines: Record<string, unknown>[]) => Record<string, unknown>[], string]>([
  ["a resource twice", (lines) => [...lines, ...lines.slice(-1)], "is there twice"],
  [
    "a resource of another origin",
    (lines) => lines.map((line) => ({ ...line, url: "https://other.example/" })),
    "is not a resource of https://catalogue.example/",
  ],
  ["an unknown cell", (lines) => lines.map((line) => ({ ...line, user: 7 })), "is not a resource of"],
  [
    "a resource of a day that does not exist",
    (lines) => lines.map((line) => ({ ...line, fetched_on: "2026-02-30" })),
    "is not a resource of",
  ],
  [
    "a resource of a day after the snapshot",
    (lines) => lines.map((line) => ({ ...line, fetched_on: "2027-01-01" })),
    "is of a day after the snapshot's",
  ],
  [
    "a resource that was gone before it was fetched",
    (lines) => lines.map((line) => ({ ...line, gone_on: "2025-01-01" })),
    "was gone before it was fetched",
  ],
  ["a missing resource", (lines) => lines.slice(0, -1), "its coverage is not that of the resources"],
])("a forged snapshot with %s is refused", async (_name, change, message) => {
  const [problem] = await problemsOf(forgeZip(withSums(await withLines(change))));
  expect(problem?.message).toContain(message);
});

it.each([
  "https://u:canary-p@catalogue.example/",
  "https://catalogue.example/?a=1",
  "https://catalogue.example/#a",
])("a snapshot of the base URL %s is refused, and its text is not repeated", async (baseUrl) => {
  const entries = await takeApart(sound);
  const changed = entries.map((entry) =>
    entry.name === "manifest.json"
      ? {
          ...entry,
          content: Buffer.from(entry.content.toString().replace("https://catalogue.example/", baseUrl)),
        }
      : entry,
  );
  const error = await problemsOf(forgeZip(withSums(changed))).then(
    (problems) => problems[0],
    (reason: unknown) => reason,
  );
  expect(error).toBeDefined();
  expect(String(error)).not.toContain(baseUrl);
  await expect(openSnapshot(join(rig.folder, "tried.zip"))).rejects.toThrow();
});

it("a snapshot with the entries of a backup is refused", async () => {
  const more: ForgedEntry = { name: "bookkeeping/run-00001.ndjson", content: Buffer.from("{}\n") };
  const entries = await takeApart(sound);
  const [problem] = await problemsOf(forgeZip(withSums(entries.toSpliced(2, 0, more))));
  expect(problem).toEqual({ entry: more.name, message: "does not belong into a snapshot" });
});

it("the root hash is of the contents, however they are compressed", async () => {
  const stored = forgeZip(await takeApart(sound));
  expect(stored.length).toBeGreaterThan(sound.length);
  const file = join(rig.folder, "stored.zip");
  await writeFile(file, stored);
  expect(await verifySnapshot({ file })).toMatchObject({ rootHash, problems: [] });
});

it("a snapshot of a newer format is refused", async () => {
  const newer = (text: string) => text.replace('"formatVersion": 4', '"formatVersion": 5');
  const [manifest, ...others] = (await takeApart(sound)).map(({ name, content }) => ({ name, content }));
  const changed = { name: "manifest.json", content: Buffer.from(newer(String(manifest?.content))) };
  await expect(problemsOf(forgeZip(withSums([changed, ...others])))).rejects.toMatchObject({
    code: "other-version",
    message: expect.stringContaining("has format 5"),
  });
});

it("a snapshot that is much larger than its file is refused before it is decompressed", async () => {
  const zeros = Buffer.alloc(2 ** 24);
  const packed = deflateRawSync(zeros);
  const extra = Buffer.from([0x41, 0x72, 4, 0, 0, 0, 0, 0]);
  extra.writeUInt32LE(crc32(packed), 4);
  const both = { method: 8, crc: crc32(zeros), size: zeros.length, packed: packed.length, extra };
  const entries = (await takeApart(sound)).map((entry) =>
    entry.name === "resources/00001.json" ? { ...entry, content: packed, both } : entry,
  );
  const [problem] = await problemsOf(forgeZip(entries));
  expect(problem?.message).toContain("is larger than an archive allows");
  await rm(join(rig.folder, "tried.zip"));
});

it("a snapshot with another root hash than the given one is refused", async () => {
  const file = join(rig.folder, "sound.zip");
  await expect(openSnapshot(file, { rootHash: "0".repeat(64) })).rejects.toMatchObject({
    code: "damaged",
    message: expect.stringContaining(`its root hash is ${rootHash}`),
  });
});

it("a backup is no snapshot, encrypted or not, and a snapshot is no backup", async () => {
  await using account = await startBackupRig();
  crawl(account.mirror, accountWorld());
  const plain = await account.create("a.zip");
  const encrypted = await account.create("a.zip.age", { passphrase: testPassphrase });
  expectUnreadable(encrypted.file);
  for (const { file } of [plain, encrypted])
    await expect(openSnapshot(file)).rejects.toMatchObject({ code: "other-contents" });
  await expect(verifyBackup({ file: join(rig.folder, "sound.zip") })).rejects.toMatchObject({
    code: "other-contents",
  });
});

it("a snapshot that changes between its verification and its reading is refused", async () => {
  const file = join(rig.folder, "changing.zip");
  await writeFile(file, sound);
  const { resources } = await openSnapshot(file);
  const changed = Buffer.from(sound);
  const at = sound.indexOf("resources/00001.json") + 40;
  changed[at] = (sound[at] ?? 0) ^ 1;
  await writeFile(file, changed);
  const readAll = async () => {
    for await (const { readBody } of resources()) await readBody();
  };
  await expect(readAll()).rejects.toMatchObject({ code: "damaged" });
});
