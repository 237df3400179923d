/** Writes entries as a ZIP file. The same entries give the same bytes with the same build of Node. */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw, inflateRawSync } from "node:zlib";
import { BackupError } from "../errors.ts";
import {
  centralHeader,
  endOfZip,
  localHeader,
  maxContentBytes,
  maxEntries,
  maxEntryBytes,
  maxZipBytes,
  mayBePacked,
  type ZipEntry,
} from "./zip-format.ts";

export interface NewEntry {
  readonly name: string;
  /** In pieces, if as a whole it would take much memory; they are read once. */
  readonly content: Buffer | Iterable<Buffer>;
  /** Whether the content is compressed already, as a picture is. */
  readonly isCompressed?: boolean;
}

export type NewEntries = AsyncIterable<NewEntry> | Iterable<NewEntry>;

export interface WholeEntry extends NewEntry {
  readonly content: Buffer;
}

export const wholeEntry = (entry: NewEntry): WholeEntry => ({ ...entry, content: wholeOf(entry.content) });

const wholeOf = (content: NewEntry["content"]): Buffer =>
  Buffer.isBuffer(content) ? content : Buffer.concat([...content]);

/** Below this, a header takes more than compression saves. */
const minPackedBytes = 128;

/** Reads the content of an entry to its end before the next entry. @throws BackupError `too-big` */
export async function* zipChunks(entries: NewEntries): AsyncGenerator<Buffer> {
  const written: { readonly entry: ZipEntry; readonly offset: number }[] = [];
  let offset = 0;
  let contentBytes = 0;
  for await (const { name, size, sum, packed, bytes } of packAhead(entries)) {
    if (written.length === maxEntries) throw tooBig(`it has more than ${maxEntries} entries`);
    contentBytes += size;
    if (size > maxEntryBytes) throw tooBig(`${name} has ${size} bytes`);
    if (contentBytes > maxContentBytes) throw tooBig(`its content has more than ${maxContentBytes} bytes`);
    const entry = { name, size, crc32: sum, packed };
    const header = localHeader(entry);
    written.push({ entry, offset });
    offset += header.length + bytes.length;
    yield header;
    yield bytes;
  }
  const directory = Buffer.concat(written.map(({ entry, offset }) => centralHeader(entry, offset)));
  if (offset + directory.length > maxZipBytes) throw tooBig(`it has ${offset + directory.length} bytes`);
  yield directory;
  yield endOfZip({ entries: written.length, offset, bytes: directory.length });
}

interface Packed {
  readonly size: number;
  /** CRC-32 of the content. */
  readonly sum: number;
  readonly packed: ZipEntry["packed"];
  /** The content, compressed if `packed` is set. */
  readonly bytes: Buffer;
}

/** An index, its block, and the next two. */
const entriesAhead = 4;

/** While threads of Node compress entries, the next ones are read. */
async function* packAhead(entries: NewEntries): AsyncGenerator<Packed & { readonly name: string }> {
  const started: { readonly name: string; readonly finish: () => Promise<Packed> }[] = [];
  for await (const { name, content, isCompressed = false } of entries) {
    const first = started.length < entriesAhead ? undefined : started.shift();
    if (first !== undefined) yield { name: first.name, ...(await first.finish()) };
    started.push({ name, finish: isCompressed ? store(content) : await pack(content) });
  }
  for (const { name, finish } of started) yield { name, ...(await finish()) };
}

function store(content: NewEntry["content"]): () => Promise<Packed> {
  const bytes = wholeOf(content);
  return async () => ({ size: bytes.length, sum: crc32(bytes), packed: null, bytes });
}

const deflate = promisify(deflateRaw);

/** The file is a tenth larger than with zlib's default level, in half the time. */
const level = 3;
/** About the size of a compressed block. zlib takes memory in the main thread, in pieces of this size. */
const outputBytes = 2 ** 17;

/** Reads all of the content. @returns waits until the threads have compressed it */
async function pack(content: NewEntry["content"]): Promise<() => Promise<Packed>> {
  if (Buffer.isBuffer(content) && content.length < minPackedBytes) return store(content);
  const parts: Promise<Buffer>[] = [];
  let [size, sum] = [0, 0];
  for (const piece of Buffer.isBuffer(content) ? [content] : content) {
    size += piece.length;
    sum = crc32(piece, sum);
    // No more than two pieces are in memory.
    await parts.at(-2);
    // Each piece ends at a byte, so that the next one can follow it.
    parts.push(deflate(piece, { level, chunkSize: outputBytes, finishFlush: constants.Z_SYNC_FLUSH }));
  }
  parts.push(deflate(Buffer.alloc(0)));
  return async () => {
    const bytes = Buffer.concat(await Promise.all(parts));
    if (!mayBePacked(size, bytes.length)) return store(inflateRawSync(bytes))();
    return { size, sum, packed: { size: bytes.length, crc32: crc32(bytes) }, bytes };
  };
}

function tooBig(reason: string): BackupError {
  return new BackupError(
    "too-big",
    `The backup would be too big: ${reason}.`,
    "Prune old runs with `armoire mirror compact --keep-monthly 24`, or copy the mirror's file itself.",
  );
}
