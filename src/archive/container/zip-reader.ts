/**
 * Reads what `zip-writer.ts` writes, and nothing else. In: bytes from an untrusted source. Out: entries, in order; or a
 * ZipError. Every header must be the one that would be written for its entry, so links, other modes, other methods, flags,
 * comments, extra fields, gaps and overlaps need no rules of their own.
 */
import { crc32 } from "node:zlib";
import {
  centralHeader,
  endOfZip,
  localHeader,
  maxEntries,
  maxEntryBytes,
  readLocalHeader,
  type ZipEntry,
  zipBytes,
  zipSignatures,
} from "./zip-format.ts";
import type { NewEntry } from "./zip-writer.ts";

export interface ReadEntry extends NewEntry {
  /** Whether the content has the CRC-32 of its header. */
  readonly hasItsCrc: boolean;
}

/** The file is not one that Armoire writes; nothing after this point can be read. */
export class ZipError extends Error {
  override readonly name = "ZipError";
  /** The entry's name; null if the problem belongs to none. */
  readonly entry: string | null;
  constructor(entry: string | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.entry = entry;
  }
}

const maxNameBytes = 200;

const noBackup = () => new ZipError(null, "not an Armoire backup, or its header is damaged");

/** Ends only after every byte of the file was checked. @throws ZipError, and what the reader throws */
export async function* readEntries(reader: ByteReader): AsyncGenerator<ReadEntry> {
  const entries: { readonly entry: ZipEntry; readonly offset: number }[] = [];
  for (;;) {
    const offset = reader.position();
    const fields = await reader.take(zipBytes.local);
    const header = readLocalHeader(fields);
    if (header === null) {
      if (entries.length === 0) throw noBackup();
      await readDirectory(reader, entries, offset, fields);
      return;
    }
    const previous = entries.at(-1)?.entry.name ?? null;
    if (header.nameBytes > maxNameBytes || header.size > maxEntryBytes || entries.length === maxEntries)
      throw new ZipError(
        null,
        `the entry after ${previous ?? "the beginning"} is larger than a backup allows: ${describe(header)}`,
      );
    const name = (await reader.take(header.nameBytes)).toString("latin1");
    const entry: ZipEntry = { name, size: header.size, crc32: header.crc32 };
    const expected = localHeader(entry).subarray(0, zipBytes.local);
    if (!expected.equals(fields) && entries.length === 0) throw noBackup();
    if (!expected.equals(fields))
      throw new ZipError(name, "its header is not that of a stored, regular file without extra fields");
    const content = await reader.take(entry.size);
    if (content.length < entry.size) throw new ZipError(name, "the file is cut off in it");
    entries.push({ entry, offset });
    yield { name, content, hasItsCrc: crc32(content) === entry.crc32 };
  }
}

const describe = ({ nameBytes, size }: { nameBytes: number; size: number }) =>
  `${nameBytes} bytes of name, ${size} bytes of content`;

/** Checks the central directory and the end of the file. @param fields the first bytes of the directory */
async function readDirectory(
  reader: ByteReader,
  entries: readonly { readonly entry: ZipEntry; readonly offset: number }[],
  start: number,
  fields: Buffer,
): Promise<void> {
  let ahead = fields;
  const take = async (count: number): Promise<Buffer> => {
    const missing = count - ahead.length;
    const taken = missing > 0 ? Buffer.concat([ahead, await reader.take(missing)]) : ahead.subarray(0, count);
    ahead = ahead.subarray(taken.length);
    return taken;
  };
  let bytes = 0;
  for (const [n, { entry, offset }] of entries.entries()) {
    const expected = centralHeader(entry, offset);
    const found = await take(expected.length);
    if (!found.equals(expected)) {
      if (n === 0 && !isDirectory(found))
        throw new ZipError(
          entries.at(-1)?.entry.name ?? null,
          "it is followed by neither an entry nor the directory",
        );
      throw new ZipError(entry.name, "its header in the directory is another one");
    }
    bytes += expected.length;
  }
  const expected = endOfZip({ entries: entries.length, offset: start, bytes });
  const found = await take(expected.length);
  if (!found.equals(expected))
    throw new ZipError(
      null,
      found.length < expected.length ? "the file is cut off" : "the end of the directory is damaged",
    );
  if ((await take(1)).length > 0) throw new ZipError(null, "there are bytes after the end");
}

const isDirectory = (header: Buffer) =>
  header.length >= 4 && header.readUInt32LE(0) === zipSignatures.central;

/** Reads bytes in order. */
export interface ByteReader {
  /** The next `count` bytes, or fewer at the end. Memory grows with the bytes that exist, not with `count`. */
  take(count: number): Promise<Buffer>;
  /** The offset of the next byte. */
  readonly position: () => number;
}

export function byteReader(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): ByteReader {
  const iterator =
    Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  let rest = Buffer.alloc(0);
  let position = 0;
  return {
    position: () => position,
    async take(count) {
      if (rest.length < count) {
        const parts = [rest];
        let length = rest.length;
        while (length < count) {
          const next = await iterator.next();
          if (next.done) break;
          const { buffer, byteOffset, byteLength } = next.value;
          parts.push(Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength));
          length += byteLength;
        }
        rest = parts.length === 1 ? rest : Buffer.concat(parts);
      }
      const taken = rest.subarray(0, count);
      rest = rest.subarray(taken.length);
      position += taken.length;
      return taken;
    },
  };
}
