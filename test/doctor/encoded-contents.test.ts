/** The search for secrets in mirrors and archives, and its reports of contents that it cannot search. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  brotliCompressSync,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import type { CompressionCodec, Encoding } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parquetChunks } from "../../exports/formats/parquet/chunks.ts";
import { encrypted } from "../../src/archive/container/encryption.ts";
import { withPassphrase } from "../../src/archive/container/open.ts";
import { zipChunks } from "../../src/archive/container/zip-writer.ts";
import { manifestEntry } from "../../src/archive/contents/entry-names.ts";
import { diagnoseSecrets } from "../../src/doctor/diagnose-secrets.ts";
import { findSecrets } from "../../src/doctor/find-secrets.ts";
import { hideSecret } from "../../src/service/credentials/credential.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, worldOf } from "../mirror/support/world.ts";
import { expectUnreadable } from "../support/canary.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const secret = "planted passphrase 0123456789";
const lorem = "Lorem ipsum dolor sit amet, consectetur adipisici elit, sed eiusmod tempor incidunt. ";
const text = `${lorem.repeat(9)}${secret} ${lorem.repeat(9)}`;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, "archive");
});
afterEach(() => folder[Symbol.asyncDispose]());

const secrets = [{ label: "planted secret", credential: hideSecret(secret), places: [] }];
const find = (passphrase?: string) => findSecrets([folder.path], secrets, withPassphrase(passphrase));

const zip = async (content: string, name = manifestEntry): Promise<Buffer> =>
  await buffer(zipChunks([{ name, content: Buffer.from(content) }]));

/** The beginning of a ZIP file of another program: one compressed entry. */
async function foreignZip(): Promise<Buffer> {
  const compressed = deflateRawSync(text);
  const header = Buffer.from((await zip("")).subarray(0, 30));
  header.writeUInt16LE(8, 8);
  header.writeUInt32LE(compressed.length, 18);
  header.writeUInt32LE(text.length, 22);
  return Buffer.concat([header, Buffer.from("a.txt"), compressed]);
}

/** One text of 16 MiB of zeros. */
function parquetBomb(): Buffer {
  const columnData = [{ name: "note", data: ["\0".repeat(2 ** 24)], encoding: "PLAIN" as const }];
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) };
  return Buffer.from(parquetWriteBuffer({ columnData, codec: "ZSTD", compressors, statistics: false }));
}

/** Its pages are not in fact in that format, which nothing here writes. */
function parquetInLzo(): Buffer {
  const columnData = [{ name: "note", data: [text] }];
  const compressors = { LZO: (bytes: Uint8Array) => gzipSync(bytes) };
  return Buffer.from(parquetWriteBuffer({ columnData, codec: "LZO", compressors, statistics: false }));
}

async function age(content: Buffer, passphrase: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of encrypted([content], passphrase)) pieces.push(piece);
  return Buffer.concat(pieces);
}

it.each([
  ["stored", secret, "file"],
  ["compressed", text, "archive"],
])(
  "a secret in a plain archive is found once, and the archive is searched completely: %s",
  async (_how, content, place) => {
    writeFileSync(file, await zip(content));
    expect(await find()).toMatchObject({ found: [{ file, in: place }], unreadable: [], unsearched: [] });
  },
);

it("a secret in an encrypted archive is found with the passphrase", async () => {
  expectUnreadable(file);
  writeFileSync(file, await age(await zip(text), "planted-1"));
  expect(await find("planted-1")).toMatchObject({ found: [{ file, in: "archive" }], unsearched: [] });
  expect(await diagnoseSecrets([folder.path], secrets, withPassphrase("planted-1"))).toMatchObject([
    { isOk: false, message: `The planted secret is in the archive ${file} (as it is)` },
  ]);
}, 90_000);

it("an encrypted archive is reported as not searched without the right passphrase", async () => {
  expectUnreadable(file);
  writeFileSync(file, await age(await zip(text), "planted-1"));
  const unsearched = (why: string) => ({
    found: [],
    unreadable: [],
    unsearched: [{ path: file, reason: "encrypted", why }],
  });
  expect(await find("planted-2")).toMatchObject(unsearched("it is encrypted with another passphrase"));
  expect(await find()).toMatchObject(
    unsearched(expect.stringMatching(/^it is encrypted, .*--passphrase-file/)),
  );
  expect(await diagnoseSecrets([folder.path], secrets)).toMatchObject([
    { isOk: true, message: expect.stringContaining(`Part of ${file} was not searched: it is encrypted`) },
    { isOk: true, message: expect.stringContaining("No known secret was found in 1 file ") },
  ]);
}, 90_000);

it.each([
  ["gzip", gzipSync],
  ["Zstandard", zstdCompressSync],
])("a secret in a file in %s is found, and a damaged file is reported", async (_format, compress) => {
  expectUnreadable(file);
  const bytes = compress(Array.from({ length: 20_000 }, (_, n) => `row ${n}`).join() + secret);
  writeFileSync(file, bytes);
  expect(await find()).toMatchObject({ found: [{ file, form: "as it is", in: "file" }], unsearched: [] });
  writeFileSync(file, bytes.subarray(0, bytes.length - 30));
  expect((await find()).unsearched).toEqual([{ path: file, reason: "damaged", why: "it is damaged" }]);
});

it("a secret in a file that was compressed with Zstandard in several chunks is found", async () => {
  expectUnreadable(file);
  const chunks = [lorem, secret, lorem].map((text) => Buffer.from(text));
  writeFileSync(file, await buffer(Readable.from(chunks).pipe(createZstdCompress())));
  expect(await find()).toMatchObject({ found: [{ file, in: "file" }], unsearched: [] });
});

it.each([
  ["a second frame of Zstandard", Buffer.concat([zstdCompressSync(lorem), zstdCompressSync(text)])],
  ["a member of gzip after a NUL", Buffer.concat([gzipSync(lorem), Buffer.of(0), gzipSync(text)])],
  [
    "Zstandard after a frame to skip",
    Buffer.concat([Buffer.from("5a2a4d180100000041", "hex"), zstdCompressSync(text)]),
  ],
])("a file with %s is reported as not searched", async (_what, bytes) => {
  expectUnreadable(file);
  writeFileSync(file, bytes);
  expect(await find()).toMatchObject({ found: [], unsearched: [{ path: file, reason: "format" }] });
});

describe("a Parquet file", () => {
  const compressors = {
    ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes),
    GZIP: (bytes: Uint8Array) => gzipSync(bytes),
    BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes),
  };
  /** Of several row groups; without statistics, which would repeat the first and last texts outside the pages. */
  const parquet = (codec: CompressionCodec, encoding?: Encoding, last = secret): Buffer => {
    const notes = Array.from({ length: 1_999 }, (_, n) => `${secret.slice(0, 20)} ${n}`);
    const note = { name: "note", data: [...notes, last], ...(encoding && { encoding }) };
    const columnData = [note, { name: "n", data: [...notes, ""].map((_, n) => n) }];
    return Buffer.from(
      parquetWriteBuffer({ columnData, codec, compressors, statistics: false, rowGroupSize: 500 }),
    );
  };

  it.each<[CompressionCodec, Encoding?]>([
    ["ZSTD"],
    ["ZSTD", "PLAIN"],
    ["ZSTD", "DELTA_LENGTH_BYTE_ARRAY"],
    ["ZSTD", "DELTA_BYTE_ARRAY"],
    ["UNCOMPRESSED", "DELTA_BYTE_ARRAY"],
    ["SNAPPY"],
    ["GZIP"],
    ["BROTLI"],
  ])("with a secret in its pages is found (%s, %s)", async (codec, encoding) => {
    expectUnreadable(file);
    const bytes = parquet(codec, encoding);
    if (codec !== "UNCOMPRESSED") expect(bytes.includes(secret)).toBe(false);
    writeFileSync(file, bytes);
    expect(await find()).toMatchObject({
      found: [{ file, form: "as it is", in: "file" }],
      unreadable: [],
      unsearched: [],
    });
  });

  it("of an export is searched, also its JSON", async () => {
    const notes = Array.from({ length: 500 }, (_, n) => ({ note: `${lorem}${n}` }));
    const rows = [...notes, { note: secret }].map((note, n) => [`a${n}`, JSON.stringify(note)]);
    const table = { name: "brand", columns: ["href", "payload"], rows: () => rows } as never;
    const columns = [
      { name: "href", type: "text" },
      { name: "payload", type: "object" },
    ] as never;
    writeFileSync(file, Buffer.concat([...parquetChunks(table, columns, null)]));
    expect(await find()).toMatchObject({ found: [{ file, in: "file" }], unsearched: [] });
  });

  it("that is damaged is reported, whatever byte is changed, and never ends the search", async () => {
    expectUnreadable(file);
    const bytes = parquet("ZSTD", undefined, "other");
    for (let at = 4; at < bytes.length; at += 97) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      writeFileSync(file, damaged);
      const { unreadable, unsearched } = await find();
      expect(unreadable).toEqual([]);
      for (const { reason } of unsearched) expect(["damaged", "format"]).toContain(reason);
    }
    writeFileSync(file, bytes.subarray(0, bytes.length - 30));
    expect((await find()).unsearched).toEqual([{ path: file, reason: "damaged", why: "it is damaged" }]);
  });
});

it.each([
  ["Parquet bomb", parquetBomb(), "it decompresses to more than 1000 times its size"],
  ["Parquet in LZO", parquetInLzo(), "its pages are in a compressed format that is not read"],
  ["gzip bomb", gzipSync(Buffer.alloc(2 ** 24)), "it decompresses to more than 1000 times its size"],
  ["twice compressed", gzipSync(gzipSync(text)), "its contents are encoded once more"],
  ["Zstandard of a database", zstdCompressSync("SQLite format 3\0"), "its contents are encoded once more"],
  ["xz", Buffer.from("fd377a585a000004", "hex"), "it is in a compressed or encrypted format, xz"],
  ["7-Zip", Buffer.from("377abcaf271c0004", "hex"), "it is in a compressed or encrypted format, 7-Zip"],
  ["zlib", deflateSync(text), "it is in a compressed or encrypted format, zlib"],
  ...[
    // gpg --encrypt with RSA and with Curve25519, --symmetric, --sign; the new form of lengths.
    ...["85010c03a1b2", "845e03a1b2", "8c0d0409", "a30178da", "c15e03", "c1c0c003", "c32e0409", "c8eb01"],
  ].map((head): [string, Buffer, string] => [
    `OpenPGP ${head}`,
    Buffer.concat([Buffer.from(head, "hex"), Buffer.from(text)]),
    "it is in a compressed or encrypted format, OpenPGP",
  ]),
  [
    "age in letters",
    Buffer.from("-----BEGIN AGE ENCRYPTED FILE-----\n"),
    "it is in a compressed or encrypted format, age",
  ],
  [
    "OpenSSL in base64",
    Buffer.from("U2FsdGVkX18xMjM0NTY3OA==\n"),
    "it is in a compressed or encrypted format, encrypted OpenSSL",
  ],
  ["PDF", Buffer.from("%PDF-1.7\n"), "it is in a compressed or encrypted format, PDF"],
  [
    "ZIP of another program",
    await zip(text, "a.txt"),
    "it is a ZIP file that is damaged or not made by Armoire",
  ],
  ["compressed ZIP", await foreignZip(), "it is a ZIP file that is damaged or not made by Armoire"],
  [
    "damaged ZIP",
    (await zip(text)).subarray(0, 90),
    "it is a ZIP file that is damaged or not made by Armoire",
  ],
])("a %s file is reported as not searched, and the other files are searched", async (_format, bytes, why) => {
  expectUnreadable(file);
  writeFileSync(file, bytes);
  const neighbour = join(folder.path, "z-notes.txt");
  writeFileSync(neighbour, secret);
  const { found, files, unreadable, unsearched } = await find();
  expect({ files, unreadable, unsearched }).toEqual({
    files: 2,
    unreadable: [],
    unsearched: [{ path: file, reason: "format", why }],
  });
  expect(found).toContainEqual({ file: neighbour, label: "planted secret", form: "as it is", in: "file" });
});

it("free pages of a mirror are reported as not searched until it is compacted", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const paths = Array.from({ length: 40 }, (_, index) => `brand-${index}/`);
  const bodies = paths.map((path) => [path, entity({ name: path, note: lorem.repeat(5) })] as const);
  crawl(mirror, worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(bodies) }));
  mirror.recompressAll();
  while (mirror.compressBatch() > 0);
  const unsearched = async () => (await findSecrets([rig.folder], secrets)).unsearched;
  expect(await unsearched()).toMatchObject([
    { path: rig.file, reason: "free-pages", why: expect.stringMatching(/free pages.*compact/) },
  ]);
  mirror.vacuum();
  expect(await unsearched()).toEqual([]);
});

it("a damaged page of a mirror is reported, and secrets in the other pages are found", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const paths = Array.from({ length: 20 }, (_, index) => `brand-${index}/`);
  const bodies = paths.map((path) => [path, entity({ name: path, note: secret })] as const);
  crawl(mirror, worldOf({ "/": root(), "brands/": page(paths), ...Object.fromEntries(bodies) }));
  mirror.close();
  expectUnreadable(rig.file);
  const bytes = readFileSync(rig.file);
  const pages = bytes.length / 4096;
  const reasons = new Set<string>();
  for (let page = 1; page < pages; page++) {
    writeFileSync(rig.file, Buffer.from(bytes).fill(0xff, page * 4096, (page + 1) * 4096));
    const { found, unreadable, unsearched } = await findSecrets([rig.folder], secrets);
    expect([found.length > 0, unreadable]).toEqual([true, []]);
    for (const { why } of unsearched) reasons.add(why);
  }
  expect([...reasons]).toEqual(["it is damaged"]);
});
