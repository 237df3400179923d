/** Writes entries as a ZIP file. The same entries give the same bytes with the same build of Node. */
import { crc32, deflateRawSync } from "node:zlib";
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
  readonly content: Buffer;
  /** Whether the content is compressed already, as a picture is. */
  readonly isCompressed?: boolean;
}

/** Below this, a header takes more than compression saves. */
const minPackedBytes = 128;

/** @throws BackupError `too-big` */
export function* zipChunks(entries: Iterable<NewEntry>): Generator<Buffer> {
  const written: { readonly entry: ZipEntry; readonly offset: number }[] = [];
  let offset = 0;
  let contentBytes = 0;
  for (const entryToWrite of entries) {
    const { name, content } = entryToWrite;
    contentBytes += content.length;
    if (content.length > maxEntryBytes) throw tooBig(`${name} has ${content.length} bytes`);
    if (contentBytes > maxContentBytes) throw tooBig(`its content has more than ${maxContentBytes} bytes`);
    if (written.length === maxEntries) throw tooBig(`it has more than ${maxEntries} entries`);
    const packed = pack(entryToWrite);
    const entry = {
      ...{ name, size: content.length, crc32: crc32(content) },
      packed: packed === null ? null : { size: packed.length, crc32: crc32(packed) },
    };
    const header = localHeader(entry);
    const bytes = packed ?? content;
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

/** Null if the content is to be stored. */
function pack({ content, isCompressed = false }: NewEntry): Buffer | null {
  if (isCompressed || content.length < minPackedBytes) return null;
  const packed = deflateRawSync(content);
  return mayBePacked(content.length, packed.length) ? packed : null;
}

function tooBig(reason: string): BackupError {
  return new BackupError(
    "too-big",
    `The backup would be too big: ${reason}.`,
    "Prune old runs with `armoire mirror compact --keep-monthly 24`, or copy the mirror's file itself.",
  );
}
