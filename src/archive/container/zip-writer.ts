/** Writes entries as a ZIP file. The same entries give the same bytes in every version of Node. */
import { crc32 } from "node:zlib";
import { BackupError } from "../errors.ts";
import {
  centralHeader,
  endOfZip,
  localHeader,
  maxEntries,
  maxEntryBytes,
  maxZipBytes,
  type ZipEntry,
} from "./zip-format.ts";

export interface NewEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** @throws BackupError `too-big` */
export function* zipChunks(entries: Iterable<NewEntry>): Generator<Buffer> {
  const written: { readonly entry: ZipEntry; readonly offset: number }[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    if (content.length > maxEntryBytes) throw tooBig(`${name} has ${content.length} bytes`);
    if (written.length === maxEntries) throw tooBig(`it has more than ${maxEntries} entries`);
    const entry = { name, size: content.length, crc32: crc32(content) };
    const header = localHeader(entry);
    written.push({ entry, offset });
    offset += header.length + content.length;
    yield header;
    yield content;
  }
  const directory = Buffer.concat(written.map(({ entry, offset }) => centralHeader(entry, offset)));
  if (offset + directory.length > maxZipBytes) throw tooBig(`it has ${offset + directory.length} bytes`);
  yield directory;
  yield endOfZip({ entries: written.length, offset, bytes: directory.length });
}

function tooBig(reason: string): BackupError {
  return new BackupError(
    "too-big",
    `The backup would be too big: ${reason}.`,
    "Prune old runs with `armoire mirror compact --keep-monthly 24`, or copy the mirror's file itself.",
  );
}
