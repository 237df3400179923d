import { hash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import {
  byteReader,
  type ReadEntry,
  readEntries,
  type ZipError,
} from "../../src/archive/container/zip-reader.ts";
import { zipChunks } from "../../src/archive/container/zip-writer.ts";

const row = (n: number) => `${n},Lupine ${n % 97},${(n * 7919) % 1000}\n`;
const content = Buffer.from(Array.from({ length: 250_000 }, (_, n) => row(n)).join(""));
const name = "tables/size.csv";
const zip = await buffer(zipChunks([{ name, content }]));
/** The header has 30 bytes, the name and 8 of ours. */
const start = 38 + name.length;

/** Without keeping the content. */
async function readOne(bytes: Buffer): Promise<ReadEntry> {
  const entries: ReadEntry[] = [];
  try {
    for await (const entry of readEntries(byteReader([bytes]), () => false)) entries.push(entry);
  } catch (error) {
    // The directory has the true sizes and checksums.
    expect((error as ZipError).name).toBe("ZipError");
  }
  expect(entries).toHaveLength(1);
  return entries[0] as ReadEntry;
}

test("a large table that nothing reads is verified in pieces", async () => {
  expect(content.length).toBeGreaterThan(2 ** 22);
  expect(await readOne(zip)).toMatchObject({
    name,
    content: Buffer.alloc(0),
    sha256: hash("sha256", content),
    hasItsCrc: true,
  });
});

test.each([
  ["a compressed bit", (bytes: Buffer) => flip(bytes, start + 100_000)],
  ["the checksum of the content", (bytes: Buffer) => flip(bytes, 14)],
  ["a content that is longer", (bytes: Buffer) => writeSize(bytes, content.length - 1)],
  ["a content that is shorter", (bytes: Buffer) => writeSize(bytes, content.length + 1)],
])("a large table with damage is found in pieces: %s", async (_, damage) => {
  expect(await readOne(damage(Buffer.from(zip)))).toMatchObject({ name, hasItsCrc: false });
});

function flip(bytes: Buffer, at: number): Buffer {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}

function writeSize(bytes: Buffer, size: number): Buffer {
  bytes.writeUInt32LE(size, 22);
  return bytes;
}
