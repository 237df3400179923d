/**
 * The strict inverse of `write-zip.ts`. In: bytes that anybody may have made. Out: entries, in order; or what is wrong, and
 * where. A file is read only if it is the very one that would be written for its entries, so links, other modes, other methods,
 * flags, comments, extra fields, gaps and overlaps, whatever they are, need no rule of their own.
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
  /** Whether the content is what its header says, as far as 32 bits can tell. */
  readonly hasItsCrc: boolean;
}

/** Where the file stops being one that we would write: nothing can be read after it. */
export class ZipError extends Error {
  override readonly name = "ZipError";
  /** Null where it is not about one of them. */
  readonly entry: string | null;
  constructor(entry: string | null, what: string, options?: ErrorOptions) {
    super(what, options);
    this.entry = entry;
  }
}

const longestName = 200;

/** Ends only if every byte has been read and was as it should be. @throws ZipError, and what the reader throws */
export async function* readEntries(reader: ByteReader): AsyncGenerator<ReadEntry> {
  const entries: { readonly entry: ZipEntry; readonly offset: number }[] = [];
  for (;;) {
    const offset = reader.position();
    const fields = await reader.take(zipBytes.local);
    const header = readLocalHeader(fields);
    if (header === null) {
      if (entries.length === 0)
        throw new ZipError(null, "does not begin as a backup does: it is none, or its beginning is damaged");
      await readDirectory(reader, entries, offset, fields);
      return;
    }
    const previous = entries.at(-1)?.entry.name ?? null;
    if (header.nameBytes > longestName || header.size > maxEntryBytes || entries.length === maxEntries)
      throw new ZipError(
        null,
        `what follows ${previous ?? "the beginning"} is larger than any backup's: ${describe(header)}`,
      );
    const name = (await reader.take(header.nameBytes)).toString("latin1");
    const entry: ZipEntry = { name, size: header.size, crc32: header.crc32 };
    const expected = localHeader(entry).subarray(0, zipBytes.local);
    if (!expected.equals(fields))
      throw new ZipError(name, "its header is not one of a stored, regular file without extras");
    const content = await reader.take(entry.size);
    if (content.length < entry.size) throw new ZipError(name, "the file ends in the middle of it");
    entries.push({ entry, offset });
    yield { name, content, hasItsCrc: crc32(content) === entry.crc32 };
  }
}

const describe = ({ nameBytes, size }: { nameBytes: number; size: number }) =>
  `a name of ${nameBytes} and a content of ${size} bytes`;

/** @param fields the first bytes of it, read already */
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
      const what =
        n === 0 && !isDirectory(found)
          ? "what follows it is no entry"
          : "the directory tells something else of it";
      throw new ZipError(
        n === 0 && !isDirectory(found) ? (entries.at(-1)?.entry.name ?? null) : entry.name,
        what,
      );
    }
    bytes += expected.length;
  }
  const expected = endOfZip({ entries: entries.length, offset: start, bytes });
  const found = await take(expected.length);
  if (!found.equals(expected))
    throw new ZipError(
      null,
      found.length < expected.length
        ? "the file ends too early"
        : "the end of its directory is not as it was written",
    );
  if ((await take(1)).length > 0) throw new ZipError(null, "something follows the end");
}

const isDirectory = (header: Buffer) =>
  header.length >= 4 && header.readUInt32LE(0) === zipSignatures.central;

/** Bytes from beginning to end, as many at a time as are asked for. */
export interface ByteReader {
  /** The next `count` bytes; fewer only where there are no more. No more memory is taken than there are bytes. */
  take(count: number): Promise<Buffer>;
  /** Of the next byte, from 0. */
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
