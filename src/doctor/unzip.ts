/**
 * What is compressed in a ZIP file of any program's; what is not, as in our own backups, stands in the file as it is. In: a
 * file. Out: the contents of its entries, one after the other. It reads only, and takes no name for a path.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createInflateRaw } from "node:zlib";
import { zipBytes, zipSignatures } from "../archive/container/zip-format.ts";
import { UnreadableContentError } from "./archive-contents.ts";

const longestComment = 0xffff;
/** Stands for a number that takes more than 16 or 32 bits, and is found elsewhere. */
const large = { count: 0xffff, number: 0xffff_ffff };
const [stored, deflated] = [0, 8];

interface Directory {
  readonly at: number;
  readonly size: number;
}

interface Packed {
  /** In the file, of the header before it. */
  readonly at: number;
  readonly size: number;
}

/** @throws ClosedError for a file that is damaged, and, after all others, for entries that are encrypted or packed otherwise; a system error */
export async function* unzip(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file);
  try {
    const { packed, closed } = readEntries(await readDirectory(handle));
    for (const { at, size } of packed) {
      const header = await read(handle, at, zipBytes.local);
      if (header.readUInt32LE(0) !== zipSignatures.local) throw damaged();
      const start = at + zipBytes.local + header.readUInt16LE(26) + header.readUInt16LE(28);
      const content = createReadStream(file, { start, end: start + size - 1 });
      // Whoever reads the pieces gets the error.
      yield* pipeline(content, createInflateRaw(), () => {});
    }
    if (closed > 0)
      throw new UnreadableContentError(
        "format",
        `of what is packed in it, ${closed} are encrypted or in a format that is not known`,
      );
  } finally {
    await handle.close();
  }
}

async function readDirectory(handle: FileHandle): Promise<Buffer> {
  const { size: fileSize } = await handle.stat();
  const tailBytes = Math.min(fileSize, zipBytes.end + longestComment + zipBytes.largeEndLocator);
  const tail = await read(handle, fileSize - tailBytes, tailBytes);
  const end = tail.lastIndexOf(toBytes(zipSignatures.end));
  if (end < 0 || end + zipBytes.end > tail.length) throw damaged();
  const isLarge = tail.readUInt16LE(end + 10) === large.count || tail.readUInt32LE(end + 16) === large.number;
  const { at, size } = isLarge
    ? await readLargeEnd(handle, tail, end)
    : { at: tail.readUInt32LE(end + 16), size: tail.readUInt32LE(end + 12) };
  if (at + size > fileSize) throw damaged();
  return await read(handle, at, size);
}

async function readLargeEnd(handle: FileHandle, tail: Buffer, end: number): Promise<Directory> {
  const locator = end - zipBytes.largeEndLocator;
  if (locator < 0) throw damaged();
  const header = await read(handle, Number(tail.readBigUInt64LE(locator + 8)), zipBytes.largeEnd);
  if (header.readUInt32LE(0) !== zipSignatures.largeEnd) throw damaged();
  return { at: Number(header.readBigUInt64LE(48)), size: Number(header.readBigUInt64LE(40)) };
}

/** @returns what is deflated, and how many entries cannot be looked into */
function readEntries(directory: Buffer): { readonly packed: readonly Packed[]; readonly closed: number } {
  const packed: Packed[] = [];
  let closed = 0;
  for (let at = 0; at < directory.length; ) {
    if (at + zipBytes.central > directory.length || directory.readUInt32LE(at) !== zipSignatures.central)
      throw damaged();
    const isEncrypted = (directory.readUInt16LE(at + 8) & 1) === 1;
    const method = directory.readUInt16LE(at + 10);
    const [size, offset] = [directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 42)];
    const isFarAway = size === large.number || offset === large.number;
    if (!isEncrypted && method === deflated && !isFarAway && size > 0) packed.push({ at: offset, size });
    else if (isEncrypted || method !== stored) closed += size === 0 ? 0 : 1;
    at += zipBytes.central + [28, 30, 32].reduce((sum, field) => sum + directory.readUInt16LE(at + field), 0);
  }
  return { packed, closed };
}

/** @throws ClosedError where the file ends before that, or no file could be so long */
async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  if (!Number.isSafeInteger(position)) throw damaged();
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw damaged();
  return buffer;
}

/** As a ZIP file has numbers of 32 bits. */
export function toBytes(number: number): Buffer {
  const four = Buffer.alloc(4);
  four.writeUInt32LE(number);
  return four;
}

const damaged = () => new UnreadableContentError("damaged", "it is damaged");
