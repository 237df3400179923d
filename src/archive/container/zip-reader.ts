/**
 * Reads what `zip-writer.ts` writes, and nothing else. In: bytes from an untrusted source. Out: entries, in order; or a
 * ZipError. Every header must be the one that would be written for its entry, so links, other modes, other methods, flags,
 * comments, other extra fields, gaps and overlaps need no rules of their own.
 */
import { createHash, hash } from "node:crypto";
import { crc32, createInflateRaw, inflateRawSync } from "node:zlib";
import {
  centralHeader,
  endOfZip,
  type LocalFields,
  localHeader,
  maxContentBytes,
  maxEntries,
  maxEntryBytes,
  mayBePacked,
  readLocalHeader,
  readPackedCrc,
  type ZipEntry,
  zipBytes,
  zipSignatures,
} from "./zip-format.ts";

export interface ReadEntry {
  readonly name: string;
  /** Empty if it is damaged, or if it is large and was not asked for. */
  readonly content: Buffer;
  /** Of the content, in hex. */
  readonly sha256: string;
  /** Where it begins in the file, with its header. */
  readonly offset: number;
  /** Whether the content has the CRC-32 of its header. Damaged compressed bytes are not decompressed; the content is empty then. */
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

const noArchive = () => new ZipError(null, "not an archive of Armoire, or its header is damaged");

/** Larger entries that are not asked for are decompressed in pieces. */
const largeBytes = 2 ** 22;
const pieceBytes = 2 ** 18;

/**
 * Ends only after every byte of the file was checked.
 * @param isRead whether the content of the entry with this name is asked for
 * @throws ZipError, and what the reader throws
 */
export async function* readEntries(
  reader: ByteReader,
  isRead: (name: string) => boolean = () => true,
): AsyncGenerator<ReadEntry> {
  const entries: { readonly entry: ZipEntry; readonly offset: number }[] = [];
  let contentBytes = 0;
  for (;;) {
    const offset = reader.position();
    const fields = await reader.take(zipBytes.local);
    const header = readLocalHeader(fields);
    if (header === null) {
      if (entries.length === 0) throw noArchive();
      await readDirectory(reader, entries, offset, fields);
      return;
    }
    contentBytes += header.size;
    if (!isAllowed(header) || contentBytes > maxContentBytes || entries.length === maxEntries) {
      const previous = entries.at(-1)?.entry.name ?? "the beginning";
      throw new ZipError(
        null,
        `the entry after ${previous} is larger than an archive allows: ${describe(header)}`,
      );
    }
    const name = (await reader.take(header.nameBytes)).toString("latin1");
    const extra = await reader.take(header.extraBytes);
    const { size, crc32, contentBytes: packedSize } = header;
    const packed = header.isPacked ? { size: packedSize, crc32: readPackedCrc(extra) } : null;
    const entry: ZipEntry = { name, size, crc32, packed };
    const found = Buffer.concat([fields, Buffer.from(name, "latin1"), extra]);
    if (!localHeader(entry).equals(found)) {
      if (entries.length === 0) throw noArchive();
      throw new ZipError(name, "its header is not that of a regular file, stored or deflated");
    }
    const bytes = await reader.take(packedSize);
    if (bytes.length < packedSize) throw new ZipError(name, "the file is cut off in it");
    entries.push({ entry, offset });
    const isInPieces = size > largeBytes && packed !== null && !isRead(name);
    yield { name, offset, ...(isInPieces ? await examine(entry, bytes) : unpack(entry, bytes)) };
  }
}

const isAllowed = ({ nameBytes, size, isPacked, contentBytes }: LocalFields): boolean =>
  nameBytes <= maxNameBytes &&
  size <= maxEntryBytes &&
  contentBytes <= maxEntryBytes &&
  (!isPacked || mayBePacked(size, contentBytes));

const describe = ({ nameBytes, size, contentBytes }: LocalFields) =>
  `${nameBytes} bytes of name, ${size} bytes of content in ${contentBytes} bytes`;

type Content = Pick<ReadEntry, "content" | "sha256" | "hasItsCrc">;

const contentOf = (content: Buffer, hasItsCrc: boolean): Content => ({
  content,
  sha256: hash("sha256", content),
  hasItsCrc,
});

const noContent = Buffer.alloc(0);
const damaged = contentOf(noContent, false);

function unpack({ size, crc32: expected, packed }: ZipEntry, bytes: Buffer): Content {
  if (packed === null) return contentOf(bytes, crc32(bytes) === expected);
  if (crc32(bytes) !== packed.crc32) return damaged;
  const content = inflate(bytes, size);
  return content === null || crc32(content) !== expected ? damaged : contentOf(content, true);
}

/** As `unpack`, with one piece of the content in memory. */
async function examine({ size, crc32: expected, packed }: ZipEntry, bytes: Buffer): Promise<Content> {
  if (crc32(bytes) !== packed?.crc32) return damaged;
  const sha256 = createHash("sha256");
  let [length, sum] = [0, 0];
  const inflated = createInflateRaw({ chunkSize: pieceBytes });
  inflated.end(bytes);
  try {
    for await (const piece of inflated as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > size) return damaged;
      sum = crc32(piece, sum);
      sha256.update(piece);
    }
  } catch {
    return damaged;
  }
  const isWhole = length === size && sum === expected && inflated.bytesWritten === bytes.length;
  return isWhole ? { content: noContent, sha256: sha256.digest("hex"), hasItsCrc: true } : damaged;
}

/** Null unless the bytes are one whole stream of deflate for this many bytes. */
function inflate(bytes: Buffer, size: number): Buffer | null {
  try {
    // Its types do not know what `info` adds.
    const inflated: unknown = inflateRawSync(bytes, {
      chunkSize: Math.max(size + 1, 64),
      maxOutputLength: size,
      info: true,
    });
    if (!isInflated(inflated)) return null;
    const { buffer, engine } = inflated;
    return buffer.length === size && engine.bytesWritten === bytes.length ? buffer : null;
  } catch {
    return null;
  }
}

/** `bytesWritten`: how many compressed bytes the stream has; others may follow it. */
const isInflated = (value: unknown): value is { buffer: Buffer; engine: { bytesWritten: number } } =>
  typeof value === "object" && value !== null && "buffer" in value && "engine" in value;

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
