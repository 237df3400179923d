/** Writes entries as a ZIP file. The same entries give the same bytes with the same build of Node. */
import { constants, crc32, deflateRawSync, inflateRawSync } from "node:zlib";
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

export interface WholeEntry extends NewEntry {
  readonly content: Buffer;
}

export const wholeEntry = (entry: NewEntry): WholeEntry => ({ ...entry, content: wholeOf(entry.content) });

const wholeOf = (content: NewEntry["content"]): Buffer =>
  Buffer.isBuffer(content) ? content : Buffer.concat([...content]);

/** Below this, a header takes more than compression saves. */
const minPackedBytes = 128;

/** Reads the content of an entry to its end before the next entry. @throws BackupError `too-big` */
export function* zipChunks(entries: Iterable<NewEntry>): Generator<Buffer> {
  const written: { readonly entry: ZipEntry; readonly offset: number }[] = [];
  let offset = 0;
  let contentBytes = 0;
  for (const { name, content, isCompressed = false } of entries) {
    if (written.length === maxEntries) throw tooBig(`it has more than ${maxEntries} entries`);
    const { size, sum, packed, bytes } = isCompressed ? store(content) : pack(content);
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

function store(content: NewEntry["content"]): Packed {
  const bytes = wholeOf(content);
  return { size: bytes.length, sum: crc32(bytes), packed: null, bytes };
}

function pack(content: NewEntry["content"]): Packed {
  if (Buffer.isBuffer(content) && content.length < minPackedBytes) return store(content);
  const parts: Buffer[] = [];
  let [size, sum] = [0, 0];
  for (const piece of Buffer.isBuffer(content) ? [content] : content) {
    size += piece.length;
    sum = crc32(piece, sum);
    // Each piece ends at a byte, so that the next one can follow it.
    parts.push(deflateRawSync(piece, { finishFlush: constants.Z_SYNC_FLUSH }));
  }
  const bytes = Buffer.concat([...parts, deflateRawSync(Buffer.alloc(0))]);
  if (!mayBePacked(size, bytes.length)) return store(inflateRawSync(bytes));
  return { size, sum, packed: { size: bytes.length, crc32: crc32(bytes) }, bytes };
}

function tooBig(reason: string): BackupError {
  return new BackupError(
    "too-big",
    `The backup would be too big: ${reason}.`,
    "Prune old runs with `armoire mirror compact --keep-monthly 24`, or copy the mirror's file itself.",
  );
}
