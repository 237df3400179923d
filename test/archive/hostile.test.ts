/** Hostile archives: each is refused before anything is written. */
import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { crc32, deflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../jobs/kinds.ts";
import { restoreBackup, unpackBackup } from "../../src/archive/restore.ts";
import { crawl, someTime, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { expectUnreadable } from "../support/canary.ts";
import { accountWorld } from "./support/account-world.ts";
import { scanBytes, startBackupRig } from "./support/backup-rig.ts";
import {
  type CentralFields,
  type Fields,
  type ForgedEnd,
  type ForgedEntry,
  forgeZip,
  u16,
  u32,
} from "./support/forge-zip.ts";
import { takeApart, withBodies, withSums } from "./support/forgery.ts";

let entries: ForgedEntry[];
beforeAll(async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  entries = await takeApart(await rig.bytes());
});

const content = Buffer.from("x");
const zeros = Buffer.alloc(1 << 22);
const unix = (mode: number): CentralFields => ({ external: (mode << 16) >>> 0 });

/** A sound backup with one more entry, listed in its checksums. */
const withEntry =
  (name: string, more: Partial<ForgedEntry> = {}) =>
  () =>
    forgeZip(withSums(entries.toSpliced(-1, 0, { name, content, ...more })));

/** A sound backup with one forged entry. */
const withForged = (change: Partial<ForgedEntry>) => () =>
  forgeZip(
    withSums(entries.map((entry) => (entry.name === "tables/user.csv" ? { ...entry, ...change } : entry))),
  );

const withBoth = (fields: Fields) => withForged({ both: fields });
const withCentral = (central: CentralFields) => withForged({ central });
const withEnd = (end: ForgedEnd) => () => forgeZip(entries, end);
const extraField = (id: number, data: Buffer) => Buffer.concat([u16(id), u16(data.length), data]);
const zip64 = extraField(1, Buffer.alloc(16, 1));

/** Enough of it to be packed. */
const packable = Buffer.from("href,name\n".repeat(30));
const packedField = (packed: Buffer) => extraField(0x7241, u32(crc32(packed)));

/** A sound backup with a packed entry. @param after follows the packed data; null: in its place */
function withPacked(content: Buffer, fields: Fields = {}, after: Buffer | null = Buffer.alloc(0)) {
  const packed = after === null ? Buffer.from("no data") : Buffer.concat([deflateRawSync(content), after]);
  const both = { method: 8, crc: crc32(content), size: content.length, extra: packedField(packed) };
  const sum = createHash("sha256").update(content).digest("hex");
  return () =>
    forgeZip(
      withSums(entries)
        .map((entry) =>
          entry.name === "tables/user.csv"
            ? { ...entry, content: packed, both: { ...both, ...fields } }
            : entry,
        )
        .map((entry) =>
          entry.name === "SHA256SUMS"
            ? {
                ...entry,
                content: Buffer.from(
                  entry.content.toString().replace(/^\w{64}(?= {2}tables\/user\.csv$)/m, sum),
                ),
              }
            : entry,
        ),
    );
}

const hostile: readonly (readonly [string, () => Buffer])[] = [
  ["a name that leads out", withEntry("../outside.txt")],
  ["a name that leads out of a known folder", withEntry("tables/../../outside.txt")],
  ["a name that leads out on Windows", withEntry("..\\outside.txt")],
  ["an absolute name", withEntry("/tmp/armoire-outside.txt")],
  ["a name with a drive", withEntry("C:\\outside.txt")],
  ["a name on another computer", withEntry("\\\\host\\share\\outside.txt")],
  ["a name with NUL", withEntry("tables/user.csv\0.exe")],
  ["an empty name", withEntry("")],
  ["a folder", withEntry("tables/")],
  ["a name with a dot folder", withEntry("tables/./user.csv")],
  ["a name in other letters", withEntry("TABLES/USER.CSV")],
  ["a name in letters beyond ASCII", withEntry("tables/us\u00e9r.csv")],
  ["a device of Windows", withEntry("tables/con.csv:stream")],
  ["a name of 300 letters", withEntry(`tables/${"a".repeat(300)}.csv`)],
  ["an unknown file", withEntry(".bashrc")],
  ["a mirror in place of its rows", withEntry("mirror.sqlite")],
  ["the same entry twice", withEntry("tables/user.csv")],
  ["the checksums twice", () => forgeZip([...entries, ...entries.slice(-1)])],
  ["another method in the local header only", withForged({ local: { method: 8 } })],
  ["an encrypted entry by its local header only", withForged({ local: { flags: 1 } })],
  ["another time in the local header only", withForged({ local: { time: 7 } })],
  ["a later version of ZIP in the local header only", withForged({ local: { version: 45 } })],
  ["another size in the local header only", withForged({ local: { size: 1 } })],
  ["a symbolic link", withCentral(unix(0o120777))],
  ["a folder by its mode", withCentral(unix(0o040700))],
  ["a character device", withCentral(unix(0o020666))],
  ["a block device", withCentral(unix(0o060666))],
  ["a FIFO", withCentral(unix(0o010666))],
  ["a socket", withCentral(unix(0o140666))],
  ["a set-user-id program", withCentral(unix(0o104755))],
  ["a file that everybody may write", withCentral(unix(0o100666))],
  ["a folder by its attributes of DOS", withCentral({ madeBy: 20, external: 0x10 })],
  ["a hard link by an extra field", withBoth({ extra: extraField(0x000d, Buffer.alloc(20, 1)) })],
  ["another name by an extra field", withBoth({ extra: extraField(0x7075, Buffer.from("\x01....../../x")) })],
  ["sizes by an extra field", withBoth({ extra: zip64, packed: 0xffffffff, size: 0xffffffff })],
  ["sizes by an extra field in the directory only", withCentral({ extra: zip64 })],
  ["a bomb by ratio", withPacked(zeros)],
  ["a packed entry without its field", withPacked(packable, { extra: Buffer.alloc(0) })],
  ["a packed entry with another checksum", withPacked(packable, { extra: packedField(Buffer.from("x")) })],
  ["a packed entry with bytes after its end", withPacked(packable, {}, Buffer.from("x"))],
  ["a packed entry that is larger than it says", withPacked(packable, { size: packable.length - 1 })],
  ["a packed entry that is smaller than it says", withPacked(packable, { size: packable.length + 1 })],
  ["a packed entry that is no packed data", withPacked(packable, {}, null)],
  ["another method", withBoth({ method: 12 })],
  ["a size without content", withBoth({ packed: 0x7fffffff, size: 0x7fffffff })],
  ["two sizes", withBoth({ size: 5_000_000 })],
  ["more entries than there are", withEnd({ entries: 0xffff })],
  ["fewer entries than there are", withEnd({ entries: 1 })],
  ["an encrypted entry", withBoth({ flags: 1 })],
  [
    "an entry whose sizes follow its content",
    withForged({ both: { flags: 8 }, after: Buffer.concat([u32(0x08074b50), u32(0), u32(1), u32(1)]) }),
  ],
  ["a name in UTF-8 by its flag", withBoth({ flags: 0x800 })],
  ["a patch", withBoth({ flags: 0x20 })],
  ["another name in the directory", withCentral({ name: "../../outside" })],
  ["another content in the directory", withCentral({ crc: 7 })],
  ["another offset in the directory", withCentral({ offset: 0 })],
  [
    "two entries at one offset",
    () => forgeZip(entries.map((entry) => ({ ...entry, central: { offset: 0 } }))),
  ],
  ["a header in the directory without an entry", withEntry("tables/zebra.csv", { isOnlyListed: true })],
  ["an entry without a header in the directory", withEntry("tables/zebra.csv", { central: null })],
  ["an entry on another disk", withCentral({ disk: 1 })],
  ["a text file by its attributes", withCentral({ internal: 1 })],
  ["a comment of an entry", withCentral({ comment: Buffer.from("../../outside") })],
  ["a comment of the archive", withEnd({ comment: Buffer.from("x") })],
  ["a time", withBoth({ time: 1 })],
  ["bytes before the first entry", () => Buffer.concat([Buffer.from("#!/bin/sh\n"), forgeZip(entries)])],
  ["bytes between entries", withForged({ before: Buffer.alloc(16) })],
  ["another archive between entries", withForged({ before: forgeZip([{ name: "a", content }]) })],
  ["bytes between the directory and its end", withEnd({ before: Buffer.alloc(8) })],
  ["bytes after the end", withEnd({ after: Buffer.alloc(1) })],
  ["a second end", withEnd({ after: forgeZip([]) })],
  ["an end on another disk", withEnd({ disk: 1 })],
  [
    "an unnecessary ZIP64 end",
    withEnd({
      before: Buffer.concat([u32(0x06064b50), Buffer.alloc(52), u32(0x07064b50), Buffer.alloc(16)]),
    }),
  ],
  [
    "a tape archive",
    () =>
      Buffer.concat([
        Buffer.from("README.txt".padEnd(257, "\0")),
        Buffer.from("ustar\x0000"),
        Buffer.alloc(2048),
      ]),
  ],
  ["a gzip stream", () => Buffer.from("1f8b0800000000000003", "hex")],
];

describe("archives", () => {
  it.each(hostile)("a hostile archive is refused, and nothing is written: %s", async (_case, make) => {
    const bytes = make();
    const { problems } = await scanBytes(bytes);
    expect(problems).not.toEqual([]);
    for (const { entry, message } of problems) expect(`${entry} ${message}`).toMatch(/^[\x20-\x7e]*$/);
    await using rig = await startMirrorRig();
    const file = `${rig.folder}/hostile.zip`;
    expectUnreadable(file);
    await writeFile(file, bytes);
    const place = `${rig.folder}/restored`;
    await expect(unpackBackup({ file, folder: place })).rejects.toMatchObject({ code: "damaged" });
    const mirror = `${place}.sqlite`;
    const restored = restoreBackup({ file, mirror, kinds, openedAt: someTime });
    await expect(restored).rejects.toMatchObject({ code: "damaged" });
    expect(await readdir(rig.folder)).toEqual(["hostile.zip"]);
  });

  it("a hostile archive with very many entries is refused at the first unknown name", async () => {
    const names = Array.from({ length: 70_000 }, (_, n) => ({ name: `n${n}`, content: Buffer.alloc(0) }));
    const [manifest] = entries;
    const { problems } = await scanBytes(
      forgeZip([...(manifest ? [manifest] : []), ...names], { entries: 0xffff }),
    );
    expect(problems).toEqual([{ entry: '"n0"', message: "no entry of an archive has this name" }]);
  });
});

it("an entry that was packed by another program is sound", async () => {
  expect((await scanBytes(withPacked(packable)())).problems).toEqual([]);
});

it("a manifest of many megabytes is refused before it is read as text", async () => {
  const [manifest, ...rest] = entries;
  const large = Buffer.concat([manifest?.content ?? content, Buffer.alloc(1 << 21, " ")]);
  const scan = await scanBytes(forgeZip(withSums([{ name: "manifest.json", content: large }, ...rest])));
  expect(scan).toMatchObject({
    manifest: null,
    problems: [{ entry: "manifest.json", message: "is larger than 1048576 bytes" }],
  });
});

it("invalid bookkeeping rows with matching checksums are refused, and no mirror remains", async () => {
  const edits: readonly (readonly [string, RegExp, string])[] = [
    ["bookkeeping/resource-00001.ndjson", /"state":"held"/, '"state":"anything"'],
    ["bookkeeping/resource-00001.ndjson", /"etag":/, '"; drop table _run":'],
    ["bookkeeping/run-00001.ndjson", /"id":1,/, '"id":2,'],
    ["bookkeeping/revision-00001.ndjson", /"seq":1,/, '"seq":"one",'],
    ["bookkeeping/page-00001.ndjson", /"id":\d+,/, '"id":9999,'],
  ];
  for (const [name, pattern, replacement] of edits) {
    await using rig = await startMirrorRig();
    const file = `${rig.folder}/forged.zip`;
    const forged = entries.map((entry) =>
      entry.name === name
        ? { ...entry, content: Buffer.from(entry.content.toString().replace(pattern, replacement)) }
        : entry,
    );
    await writeFile(file, forgeZip(withSums(forged)));
    const restored = restoreBackup({ file, mirror: `${rig.folder}/new/m.sqlite`, kinds, openedAt: someTime });
    await expect(restored, name).rejects.toMatchObject({ code: "damaged" });
    expect(await readdir(rig.folder)).toEqual(["forged.zip"]);
  }
});

it("a body that is no envelope is refused", async () => {
  let count = 0;
  const forged = withBodies(entries, (body) => (count++ === 0 ? "<html>" : body));
  await using rig = await startMirrorRig();
  const file = `${rig.folder}/forged.zip`;
  await writeFile(file, forgeZip(withSums(forged)));
  const restored = restoreBackup({ file, mirror: `${rig.folder}/m.sqlite`, kinds, openedAt: someTime });
  await expect(restored).rejects.toMatchObject({ code: "damaged" });
  expect((await readdir(rig.folder)).sort()).toEqual(["forged.zip"]);
});
